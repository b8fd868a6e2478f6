import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useCallback, useDeferredValue, useMemo, useState } from 'react'
import { apiQuery, useMe } from '../../api'
import { useUrlState } from '../../shell'
import { SavedViews } from '../../shell/savedviews'
import { useProtection } from '../../requests/drafts'
import { useFreeze } from '../../requests/freeze'
import { Button, EmptyState, ErrorState, Icons, Menu, Table, number, plural, useAskedSwitch, useStoredNames, type Sort } from '../../ui'
import { Affected } from '../flag/strategy/affected'
import { BulkBar } from './bulkbar'
import { flagColumns } from './columns'
import { CreateFlagDialog } from './create'
import { flagList, useFavoriteFlag, useSwitchFlag } from './data'
import { FilterBar } from './filters'
import { FirstSteps } from './firststeps'
import { FirstStrategyDialog } from './firststrategy'
import './flags.css'
import { filterFlags, hasStrategies, isFiltered, noFilter, sortFlags, type FlagFilter, type FlagRow } from './rows'

const none: FlagRow[] = []
const noView = { ...noFilter, sort: 'name', desc: false as boolean }

/** The flags of a project: searched, filtered and sorted in the browser, with the rows in view only. */
export default function FlagsTab() {
  const { projectId } = useParams({ from: '/projects/$projectId' })
  const project = useQuery(apiQuery('/api/admin/projects/{projectId}/overview', { path: { projectId } }))
  const list = useQuery(flagList(projectId))
  const [view, setView] = useUrlState(noView)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [creating, setCreating] = useState(false)
  const [first, setFirst] = useState<{ name: string; environment: { name: string; type: string } }>()
  const [hidden, setHidden] = useStoredNames('guidon-hidden-columns')
  const [switchAsked, question] = useAskedSwitch()
  const { can } = useMe()
  const protection = useProtection(projectId)
  const freezeOf = useFreeze(projectId)
  const switchFlag = useSwitchFlag(projectId)
  const favoriteFlag = useFavoriteFlag(projectId)

  const rows = list.data?.features ?? none
  const { sort: sortBy, desc, ...filter } = view
  const sort: Sort = { by: sortBy, descending: desc }
  const shown = useShown(rows, filter, sort)
  const environments = useMemo(() => project.data?.environments.map(({ environment }) => environment) ?? [], [project.data])
  const typeOf = (name: string) => rows[0]?.environments.find((one) => one.name === name)?.type ?? ''
  const standardOf = (name: string) => project.data?.environments.find((one) => one.environment === name)?.defaultStrategy
  const chosen = useMemo(() => rows.filter((row) => selected.has(row.name)), [rows, selected])
  const shownSelected = useMemo(() => shown.reduce((count, row) => count + (selected.has(row.name) ? 1 : 0), 0), [shown, selected])

  const onFilter = useCallback((change: Partial<FlagFilter>) => setView(change), [setView])
  const onSelect = (name: string, on: boolean) => setSelected((old) => withName(old, name, on))
  const onSwitch = (row: FlagRow, environment: { name: string; type: string }, on: boolean) => {
    const { name } = environment
    const freeze = freezeOf(name, on)
    if (on && !hasStrategies(row, name) && !standardOf(name) && freeze?.skips !== false) setFirst({ name: row.name, environment })
    else
      switchAsked({
        what: row.name,
        environment,
        on,
        freeze,
        drafted: protection.drafts(name, { off: !on }),
        details: <Affected projectId={projectId} flag={row.name} environment={name} on={on} />,
        act: () => switchFlag.mutate({ name: row.name, environment: name, on, adds: on && !hasStrategies(row, name) }),
      })
  }
  const onSelectAll = (on: boolean) => setSelected(on ? new Set(shown.map((row) => row.name)) : new Set())

  const { columns, width, optional } = flagColumns({
    projectId,
    environments: environments.map((name) => ({
      name,
      type: typeOf(name),
      allowed: protection.drafts(name) ? { allowed: true } : can('UPDATE_FEATURE_ENVIRONMENT', projectId, name),
      reviewed: protection.of(name) !== undefined,
    })),
    hidden,
    selected,
    selectedAll: shownSelected === 0 ? 'none' : shownSelected === shown.length ? 'all' : 'some',
    onSelect,
    onSelectAll,
    onSwitch,
    onFavorite: (name, favorite) => favoriteFlag.mutate({ name, favorite }),
  })
  const newFlag = (
    <Button variant="primary" icon={<Icons.Plus />} disabledReason={can('CREATE_FEATURE', projectId).reason} onClick={() => setCreating(true)}>
      Create flag
    </Button>
  )

  if (list.error && !list.data) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />
  const empty = list.data && rows.length === 0
  return (
    <>
      {!empty && (
        <div className="flags-bar">
          <FilterBar rows={rows} environments={environments} filter={filter} onChange={onFilter} />
          <Menu
            trigger={<Button icon={<Icons.Sliders />}>Columns</Button>}
            heading="Shown columns, kept in this browser"
            entries={optional.map(({ id, header, mark }) => ({
              label: (
                <>
                  {header} {mark}
                </>
              ),
              checked: !hidden.has(id),
              onSelect: () => setHidden(id, !hidden.has(id)),
            }))}
          />
          <SavedViews list="flags" state={view} defaults={noView} onChange={setView} />
          {newFlag}
        </div>
      )}
      {chosen.length > 0 ? (
        <BulkBar
          projectId={projectId}
          environments={environments.map((name) => ({ name, type: typeOf(name), standard: standardOf(name) }))}
          flags={chosen}
          hidden={chosen.length - shownSelected}
          onClear={() => setSelected(new Set())}
        />
      ) : (
        !empty && (
          <p className="soft small flags-count" role="status">
            {list.isPending
              ? 'Loading the flags…'
              : isFiltered(filter)
                ? `${number(shown.length)} of ${plural(rows.length, 'flag')}`
                : plural(rows.length, 'flag')}
          </p>
        )
      )}
      <Table
        virtual
        label={`Flags of ${project.data?.name ?? projectId}`}
        columns={columns}
        minWidth={width}
        rows={shown}
        rowKey={(row) => row.name}
        rowClass={(row) => (selected.has(row.name) ? 'flags-selected' : undefined)}
        sort={sort}
        onSort={({ by, descending }) => setView({ sort: by, desc: descending })}
        loading={list.isPending || project.isPending}
        empty={
          empty ? (
            <EmptyState title="No flags yet" action={newFlag}>
              <FirstSteps projectId={projectId} />
            </EmptyState>
          ) : (
            <EmptyState icon={<Icons.Search />} title="No flag matches" action={<Button onClick={() => onFilter(noFilter)}>Clear the filters</Button>}>
              <p>Archived flags are on the Archive tab. Search at the top finds flags of other projects.</p>
            </EmptyState>
          )
        }
      />
      {question}
      {creating && <CreateFlagDialog projectId={projectId} naming={project.data?.featureNaming} onClose={() => setCreating(false)} />}
      {first && <FirstStrategyDialog projectId={projectId} {...first} onClose={() => setFirst(undefined)} />}
    </>
  )
}

// The filtered and sorted flags. They follow the filter with low priority, so that typing stays fluent.
function useShown(rows: readonly FlagRow[], filter: FlagFilter, { by, descending }: Sort): readonly FlagRow[] {
  const wanted = useDeferredValue(JSON.stringify(filter))
  const sorted = useMemo(() => sortFlags(rows, { by, descending }), [rows, by, descending])
  return useMemo(() => filterFlags(sorted, JSON.parse(wanted) as FlagFilter), [sorted, wanted])
}

function withName(old: ReadonlySet<string>, name: string, on: boolean): ReadonlySet<string> {
  const next = new Set(old)
  if (on) next.add(name)
  else next.delete(name)
  return next
}
