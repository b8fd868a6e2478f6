import { useCallback, useRef, type CSSProperties, type Key, type ReactNode } from 'react'
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
  /** Renders only the rows in view. Rows are then 40 px high, and each column needs a width. For more than 100 rows. */
  virtual?: boolean
  /** CSS width below which the table scrolls sideways in its box. */
  minWidth?: string
  rowClass?: (row: Row) => string | undefined
}

const rowHeight = 40

/** A table in a scroll box of its own, with a sticky header. */
export function Table<Row>({ label, columns, rows, rowKey, sort, onSort, empty, loading, virtual, minWidth, rowClass }: TableProps<Row>) {
  const box = useRef<HTMLDivElement>(null)
  const overflows = useOverflow(box)
  const shown = useWindow(box, rows.length, rowHeight, Boolean(virtual))
  const scroll = overflows ? ({ tabIndex: 0, role: 'region', 'aria-label': label } as const) : {}
  if (!loading && rows.length === 0 && empty) return <>{empty}</>
  return (
    <div ref={box} className="table-box" {...scroll}>
      <table
        className={virtual ? 'table table-virtual' : 'table'}
        style={minWidth ? { minWidth } : undefined}
        aria-label={label}
        aria-rowcount={virtual ? rows.length + 1 : undefined}
        aria-busy={loading || undefined}
      >
        <thead>
          <tr>
            {columns.map((column) => (
              <HeaderCell key={column.id} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.before > 0 && <Spacer height={shown.before} columns={columns.length} />}
          {rows.slice(shown.first, shown.last).map((row, index) => (
            <tr key={rowKey(row)} className={rowClass?.(row)} aria-rowindex={virtual ? shown.first + index + 2 : undefined}>
              {columns.map((column) => (
                <td key={column.id} className={cellClass(column)}>
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
    <th ref={width} scope="col" className={cellClass(column)} aria-sort={direction}>
      {column.sortable && onSort ? (
        <button type="button" className="table-sort" onClick={() => onSort({ by: column.id, descending: sorted ? !sort.descending : false })}>
          {column.header}
          {column.mark}
          <span className={sorted ? '' : 'table-sort-off'}>{sorted && sort.descending ? <Icons.Down /> : <Icons.Up />}</span>
        </button>
      ) : column.headerCell ? (
        column.headerCell
      ) : (
        <span className={column.hideHeader ? 'visually-hidden' : undefined}>{column.header}</span>
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
