// What the pages that list something have in common: search, rows with their actions, parts of long lists, and the dialog of one row.
import { Fragment, type Key, type ReactNode } from 'react'
import { useUrlState } from '../../shell'
import { ActionMenu, Button, EmptyState, ErrorState, Icons, Pagination, Table, sortRows, type Column, type MenuEntry } from '../../ui'
import { FilterBar, type Filter } from '../../ui/filters'
import { pageOf, pageSize, search } from './paged'
import './settings.css'

interface ListProps<Row> {
  /** What it lists: 'tag type'. */
  noun: string
  query: { error: unknown; isPending: boolean; refetch: () => unknown }
  rows: readonly Row[] | undefined
  rowKey: (row: Row) => Key
  columns: Column<Row>[]
  /** The texts that are searched. Without them there is no line of controls. */
  texts?: (row: Row) => (string | null | undefined)[]
  filters?: readonly Filter[]
  /** The value of a row that a filter, or the sorting by a column, goes by. */
  value?: (row: Row, name: string) => string | null | undefined
  /** How a row is called, for the label of its menu. */
  nameOf?: (row: Row) => string
  actions?: (row: Row) => MenuEntry[]
  icon?: ReactNode
  /** What to say, and to offer, where there is nothing yet. */
  empty?: ReactNode
  create?: ReactNode
  /** Buttons in the line of controls. */
  children?: ReactNode
}

/** A list with its controls. Its search, filters, order and part are in the address. */
export function List<Row>({
  noun,
  query,
  rows = [],
  rowKey,
  columns,
  texts,
  filters = [],
  value,
  nameOf,
  actions,
  icon,
  empty,
  create,
  children,
}: ListProps<Row>) {
  const [values, setValues] = useUrlState(Object.fromEntries(['q', ...filters.map(({ name }) => name)].map((name) => [name, ''])))
  const [view, setView] = useUrlState({ sort: 'name', descending: false, offset: 0 })
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />
  const sort = columns.some(({ sortable }) => sortable) ? { by: view.sort, descending: view.descending } : undefined
  const matching = rows.filter((row) => filters.every(({ name }) => !values[name] || value?.(row, name) === values[name]))
  const found = texts ? search(matching, values.q!, texts) : matching
  const shown = pageOf(sort && value ? sortRows(found, sort, value) : found, view.offset)
  const menu = (row: Row) => actions!(row).length > 0 && <ActionMenu label={`Actions for ${nameOf?.(row)}`} entries={actions!(row)} />
  const nothing = rows.length === 0 && !query.isPending
  return (
    <div className="stack">
      {texts && !nothing && (
        <FilterBar
          noun={noun}
          search={`Search ${noun}s`}
          filters={filters}
          values={values}
          onChange={(change) => (setValues(change), setView({ offset: 0 }))}
          shown={query.isPending ? undefined : found.length}
          total={rows.length}
        >
          {children}
        </FilterBar>
      )}
      <Table
        label={`${noun.charAt(0).toUpperCase()}${noun.slice(1)}s`}
        cards
        columns={actions ? [...columns, { id: 'actions', header: 'Actions', hideHeader: true, align: 'right', width: '48px', cell: menu }] : columns}
        rows={shown.rows}
        rowKey={rowKey}
        sort={sort}
        onSort={({ by, descending }) => setView({ sort: by, descending, offset: 0 })}
        loading={query.isPending}
        empty={
          nothing ? (
            <EmptyState icon={icon} title={`No ${noun}s yet`} action={create}>
              {empty}
            </EmptyState>
          ) : (
            <EmptyState icon={<Icons.Search />} title={`No ${noun} matches`} />
          )
        }
      />
      {found.length > pageSize && (
        <Pagination noun={`${noun}s`} offset={shown.offset} limit={pageSize} total={found.length} onChange={(offset) => setView({ offset })} />
      )}
    </div>
  )
}

/** The button that opens the form of a new item. */
export const Create = ({ reason, onClick, children }: { reason?: string; onClick: () => void; children: string }) => (
  <Button variant="primary" icon={<Icons.Plus />} disabledReason={reason} onClick={onClick}>
    {children}
  </Button>
)

/** The entries of most rows. */
export const editEntry = (onSelect: () => void, disabledReason?: string): MenuEntry => ({ label: 'Edit', icon: <Icons.Edit />, onSelect, disabledReason })
export const deleteEntry = (onSelect: () => void, disabledReason?: string): MenuEntry => ({
  label: 'Delete',
  icon: <Icons.Trash />,
  danger: true,
  onSelect,
  disabledReason,
})

/** The dialog of one row, or of a new one. It has an address, so that Back closes it. */
export function useEdited<Row>(rows: readonly Row[] = [], keyOf: (row: Row) => string | number, dialog: (close: () => void, row?: Row) => ReactNode) {
  const [{ create, edit }, setView] = useUrlState({ create: false, edit: '' })
  const row = rows.find((one) => String(keyOf(one)) === edit)
  const close = () => setView({ create: false, edit: '' })
  return {
    create: () => setView({ create: true }, { push: true }),
    edit: (one: Row) => setView({ edit: String(keyOf(one)) }, { push: true }),
    dialog: <Fragment key={edit}>{create ? dialog(close) : row && dialog(close, row)}</Fragment>,
  }
}
