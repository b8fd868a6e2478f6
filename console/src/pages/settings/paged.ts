/** How many rows of a list a page shows. */
export const pageSize = 50

/** The rows whose texts contain the query, ignoring case. */
export function search<Row>(rows: readonly Row[], query: string, texts: (row: Row) => (string | null | undefined)[]): Row[] {
  const wanted = query.trim().toLowerCase()
  if (wanted === '') return [...rows]
  return rows.filter((row) => texts(row).some((text) => text?.toLowerCase().includes(wanted)))
}

/** The rows of one page, and its offset: the last page if the offset is beyond the rows. */
export function pageOf<Row>(rows: readonly Row[], offset: number, size = pageSize): { rows: readonly Row[]; offset: number } {
  const last = Math.max(0, Math.floor((rows.length - 1) / size) * size)
  const first = Math.min(Math.max(0, Math.floor(offset)), last)
  return { rows: rows.slice(first, first + size), offset: first }
}
