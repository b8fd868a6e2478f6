/** The list with the item at one index moved to another. */
export function moved<Item>(list: readonly Item[], from: number, to: number): Item[] {
  const next = [...list]
  const [item] = next.splice(from, 1)
  if (item !== undefined) next.splice(to, 0, item)
  return next
}

/** Positions by name, from 1, as PUT /api/admin/environments/sort-order takes them. */
export const positions = (names: readonly string[]): Record<string, number> => Object.fromEntries(names.map((name, index) => [name, index + 1]))
