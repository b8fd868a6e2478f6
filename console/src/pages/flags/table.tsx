import { useCallback, useState, type ReactNode } from 'react'
import { Button, Icons, Menu, Table, useStoredNames, type Sort } from '../../ui'
import { BulkBar } from './bulkbar'
import { useNarrow } from '../../ui/window'
import { flagColumns, type ColumnsInput } from './columns'
import { useFavoriteFlag } from './data'
import './flags.css'
import type { FlagRow } from './rows'
import { useRowSwitch } from './useswitch'

interface FlagTableProps extends Pick<ColumnsInput, 'projectName'> {
  label: string
  /** The projects of the rows. */
  projects: readonly string[]
  environments: readonly { name: string; type: string }[]
  rows: readonly FlagRow[]
  /** All rows that can be selected, where the table has them: a selected flag that is none of these is gone. */
  all?: readonly FlagRow[]
  sort: Sort
  onSort: (sort: Sort) => void
  loading: boolean
  empty: ReactNode
  /** The line above, with the menu of the columns. */
  bar: (columns: ReactNode) => ReactNode
}

// The height of a flag on a phone.
const cardHeight = 72

// Columns that are left out until a person wants them.
const ofProject = new Set(['created'])
const ofAll = new Set(['created', 'type'])

/** A table of flags of one project or of several, with switches, favorites, and actions for the selected flags. */
export function FlagTable({ label, projects, environments, rows, all, projectName, sort, onSort, loading, empty, bar }: FlagTableProps) {
  const [selected, setSelected] = useState<ReadonlyMap<string, FlagRow>>(new Map())
  const [hiddenAtFirst, key] = projectName ? [ofAll, 'guidon-columns-of-all'] : [ofProject, 'guidon-hidden-columns']
  const [toggled, setToggled] = useStoredNames(key)
  const hidden = (id: string) => toggled.has(id) !== hiddenAtFirst.has(id)
  const favorite = useFavoriteFlag()
  const { allowed, reviewed, onSwitch, questions } = useRowSwitch(projects)
  const onSelect = useCallback((row: FlagRow, on: boolean) => {
    setSelected((old) => {
      const next = new Map(old)
      if (on) next.set(row.name, row)
      else next.delete(row.name)
      return next
    })
  }, [])
  const shownSelected = selected.size === 0 ? 0 : rows.reduce((count, { name }) => count + Number(selected.has(name)), 0)
  const narrow = useNarrow()
  const { columns, width, optional } = flagColumns({
    environments: environments.map((environment) => ({
      ...environment,
      reviewed: projects.some((project) => reviewed(project, environment.name)),
      planned: rows.some((row) => row.environments.some(({ name, planState }) => planState && name === environment.name)),
    })),
    allowed,
    projectName,
    hidden,
    narrow,
    selected,
    selectedAll: rows.length === 0 ? undefined : shownSelected === 0 ? 'none' : shownSelected === rows.length ? 'all' : 'some',
    onSelect,
    onSelectAll: (on) => setSelected(on ? new Map(rows.map((row) => [row.name, row])) : new Map()),
    onSwitch,
    onFavorite: ({ project, name }, next) => favorite.mutate({ project, name, favorite: next }),
  })
  const chosen = selected.size === 0 ? [] : (all?.filter(({ name }) => selected.has(name)) ?? asNow(selected, rows))
  return (
    <>
      {bar(
        <Menu
          trigger={<Button icon={<Icons.Sliders />}>Columns</Button>}
          heading="Shown columns, kept in this browser"
          entries={optional.map(({ id, header, mark }) => ({
            label: (
              <>
                {header} {mark}
              </>
            ),
            checked: !hidden(id),
            onSelect: () => setToggled(id, hidden(id) === hiddenAtFirst.has(id)),
          }))}
        />,
      )}
      <Table
        virtual
        label={label}
        columns={columns}
        minWidth={width}
        rowHeight={narrow ? cardHeight : undefined}
        rows={rows}
        rowKey={(row) => row.name}
        selected={(row) => selected.has(row.name)}
        onSelect={onSelect}
        sort={sort}
        onSort={onSort}
        loading={loading}
        empty={empty}
      />
      {chosen.length > 0 && (
        <BulkBar environments={environments} flags={chosen} hidden={chosen.length - shownSelected} onClear={() => setSelected(new Map())} />
      )}
      {questions}
    </>
  )
}

// The selected flags, as far as the table shows them as they are now.
const asNow = (selected: ReadonlyMap<string, FlagRow>, rows: readonly FlagRow[]) =>
  [...selected.values()].map((row) => rows.find(({ name }) => name === row.name) ?? row)
