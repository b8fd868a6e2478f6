import { useCallback, useEffect, useRef, useState, type CSSProperties, type Key, type ReactNode } from 'react'
import { useDensity } from './density'
import { Icons } from './icons'
import { Skeleton } from './states'
import './table.css'
import { useOverflow, useWindow } from './window'

/** One column of a table. */
export interface Column<Row> {
  id: string
  header: string
  /** Shown in the header instead of the text, such as a checkbox that selects all rows. */
  headerCell?: ReactNode
  cell: (row: Row) => ReactNode
  /** The header sorts by this column: the page sorts the rows, see sort and onSort. */
  sortable?: boolean
  align?: 'left' | 'right' | 'center'
  /** A CSS width, for example '120px'. The other columns share the rest. */
  width?: string
  /** Shown in the header after the text. */
  mark?: ReactNode
  /** Stays in view while the table scrolls sideways. Only the first such column does. */
  sticky?: boolean
  /** Hides the header's text from view, for columns of switches, checkboxes and actions. */
  hideHeader?: boolean
}

/** The sorted column and its direction. */
export interface Sort {
  by: string
  descending: boolean
}

interface TableProps<Row> {
  /** What the table lists, for screen readers: 'Flags of project default'. */
  label: string
  columns: Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => Key
  sort?: Sort
  onSort?: (sort: Sort) => void
  /** Shown instead of the rows when there are none: an <EmptyState>. */
  empty?: ReactNode
  /** Shows placeholder rows. */
  loading?: boolean
  /** Renders only the rows in view. Rows are then of one height, and each column needs a width. For more than 100 rows. */
  virtual?: boolean
  /** The height of each row, if it is not that of other tables. */
  rowHeight?: number
  /** CSS width below which the table scrolls sideways in its box. */
  minWidth?: string
  /** On phones each row is a card with the names of the columns. */
  cards?: boolean
  rowClass?: (row: Row) => string | undefined
  /** Whether a row is selected, which marks it. */
  selected?: (row: Row) => boolean
  /** Selects a row, or not: the key x does it. j and k go to the next and the previous row, whose first link then has the focus. */
  onSelect?: (row: Row, selected: boolean) => void
}

/** A table in a scroll box of its own, with a sticky header. */
export function Table<Row>({
  label,
  columns,
  rows,
  rowKey,
  sort,
  onSort,
  empty,
  loading,
  virtual,
  rowHeight,
  minWidth,
  cards,
  rowClass,
  selected,
  onSelect,
}: TableProps<Row>) {
  const box = useRef<HTMLDivElement>(null)
  const overflows = useOverflow(box)
  const density = useDensity()
  const height = rowHeight ?? density.rowHeight
  const current = useRowKeys(box, rows, height, Boolean(virtual), (row) => onSelect?.(row, !selected?.(row)))
  const shown = useWindow(box, rows.length, height, Boolean(virtual))
  const scroll = overflows ? ({ tabIndex: 0, role: 'region', 'aria-label': label } as const) : {}
  if (!loading && rows.length === 0 && empty) return <>{empty}</>
  return (
    <div ref={box} className="table-box" data-loading={(loading && rows.length === 0) || undefined} {...scroll}>
      <table
        className={virtual ? 'table table-virtual' : cards ? 'table table-cards' : 'table'}
        // The layout of cards would take these roles away.
        role={cards ? 'table' : undefined}
        style={minWidth ? { minWidth } : undefined}
        aria-label={label}
        aria-rowcount={virtual ? rows.length + 1 : undefined}
        aria-busy={loading || undefined}
      >
        <thead role={cards ? 'rowgroup' : undefined}>
          <tr role={cards ? 'row' : undefined}>
            {columns.map((column) => (
              <HeaderCell key={column.id} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody role={cards ? 'rowgroup' : undefined} style={rowHeight ? ({ '--row': `${rowHeight}px` } as CSSProperties) : undefined}>
          {shown.before > 0 && <Spacer height={shown.before} columns={columns.length} />}
          {rows.slice(shown.first, shown.last).map((row, index) => (
            <tr
              key={rowKey(row)}
              role={cards ? 'row' : undefined}
              className={rowClass?.(row)}
              data-row={shown.first + index}
              data-current={current === shown.first + index || undefined}
              data-selected={selected?.(row) || undefined}
              aria-rowindex={virtual ? shown.first + index + 2 : undefined}
            >
              {columns.map((column) => (
                <td
                  key={column.id}
                  className={cellClass(column)}
                  role={cards ? 'cell' : undefined}
                  data-label={cards && !column.hideHeader ? column.header : undefined}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {loading &&
            rows.length === 0 &&
            [1, 2, 3, 4, 5].map((row) => (
              <tr key={row}>
                {columns.map((column) => (
                  <td key={column.id}>
                    <Skeleton />
                  </td>
                ))}
              </tr>
            ))}
          {shown.after > 0 && <Spacer height={shown.after} columns={columns.length} />}
        </tbody>
      </table>
    </div>
  )
}

// The row that j and k have gone to: undefined before, and when the rows are others.
function useRowKeys<Row>(box: React.RefObject<HTMLDivElement | null>, rows: readonly Row[], height: number, virtual: boolean, toggle: (row: Row) => void) {
  const [at, setAt] = useState<{ rows: readonly Row[]; index: number }>()
  const current = at?.rows === rows ? at.index : undefined
  const latest = useRef({ current, rows, toggle })
  useEffect(() => {
    latest.current = { current, rows, toggle }
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      if (
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        !'jkx'.includes(event.key) ||
        target.closest('input:not([type="checkbox"]), textarea, [role="dialog"], [role="menu"], [role="combobox"]')
      )
        return
      const { current, rows, toggle } = latest.current
      if (event.key === 'x') {
        if (current !== undefined) toggle(rows[current]!)
        return
      }
      const next = current === undefined ? 0 : Math.max(0, Math.min(rows.length - 1, current + (event.key === 'j' ? 1 : -1)))
      if (rows.length > 0) setAt({ rows, index: next })
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  useEffect(() => {
    const element = box.current
    if (current === undefined || !element) return
    const head = element.querySelector('thead')?.clientHeight ?? 0
    const top = current * height
    // A row that is not in view is not rendered: it is scrolled into view first.
    if (virtual && top < element.scrollTop) element.scrollTo({ top })
    else if (virtual && top + height + head > element.scrollTop + element.clientHeight) element.scrollTo({ top: top + height + head - element.clientHeight })
    const frame = requestAnimationFrame(() => {
      const row = element.querySelector<HTMLElement>(`[data-row="${current}"]`)
      row?.querySelector<HTMLElement>('a[href]')?.focus({ preventScroll: virtual })
    })
    return () => cancelAnimationFrame(frame)
  }, [box, current, height, virtual])
  return current
}

const cellClass = ({ align, sticky }: Pick<Column<unknown>, 'align' | 'sticky'>) =>
  [align && `align-${align}`, sticky && 'table-sticky'].filter(Boolean).join(' ') || undefined

function Spacer({ height, columns }: { height: number; columns: number }) {
  return (
    <tr aria-hidden="true" className="table-spacer">
      <td colSpan={columns} style={{ height } as CSSProperties} />
    </tr>
  )
}

function HeaderCell<Row>({ column, sort, onSort }: { column: Column<Row>; sort?: Sort; onSort?: (sort: Sort) => void }) {
  const sorted = sort?.by === column.id
  const direction = sorted ? (sort.descending ? 'descending' : 'ascending') : undefined
  const width = useCallback(
    (cell: HTMLTableCellElement | null) => {
      if (cell && column.width) cell.style.width = column.width
    },
    [column.width],
  )
  return (
    <th ref={width} scope="col" role="columnheader" className={cellClass(column)} aria-sort={direction}>
      {column.sortable && onSort ? (
        <button type="button" className="table-sort" onClick={() => onSort({ by: column.id, descending: sorted ? !sort.descending : false })}>
          {column.header}
          {column.mark}
          <span className={sorted ? '' : 'table-sort-off'}>{sorted && sort.descending ? <Icons.Down /> : <Icons.Up />}</span>
        </button>
      ) : column.headerCell ? (
        column.headerCell
      ) : (
        <>
          <span className={column.hideHeader ? 'visually-hidden' : undefined}>{column.header}</span> {column.mark}
        </>
      )}
    </th>
  )
}

/** Sorts a copy of the rows by what value returns: numbers as numbers, texts as people sort them. */
export function sortRows<Row>(rows: readonly Row[], sort: Sort, value: (row: Row, column: string) => string | number | boolean | null | undefined): Row[] {
  const factor = sort.descending ? -1 : 1
  return [...rows].sort((a, b) => {
    const left = value(a, sort.by) ?? ''
    const right = value(b, sort.by) ?? ''
    if (typeof left === 'number' && typeof right === 'number') return factor * (left - right)
    return factor * collator.compare(String(left), String(right))
  })
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })
