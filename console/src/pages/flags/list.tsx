import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useCallback, useDeferredValue, useMemo } from 'react'
import { useMe } from '../../api'
import { useUrlState } from '../../shell'
import { Button, EmptyState, ErrorState, Icons, environmentChoice, type Sort } from '../../ui'
import { FilterBar } from '../../ui/filters'
import { CreateFlagDialog } from './create'
import { flagList } from './data'
import { flagFilters } from './filters'
import { FirstSteps } from './firststeps'
import { filterFlags, noFilter, sortFlags, type FlagFilter, type FlagRow } from './rows'
import { FlagTable } from './table'
import { projectOverview } from './useswitch'

const none: FlagRow[] = []
const noView = { ...noFilter, sort: 'name', desc: false as boolean, create: false as boolean }

/** The flags of a project: searched, filtered and sorted in the browser, with the rows in view only. */
export default function FlagsTab() {
  const { projectId } = useParams({ from: '/projects/$projectId' })
  const project = useQuery(projectOverview(projectId))
  const list = useQuery(flagList(projectId))
  const [view, setView] = useUrlState(noView)
  const { can } = useMe()
  const projects = useMemo(() => [projectId], [projectId])
  const rows = list.data?.features ?? none
  const { sort: by, desc: descending, create, ...filter } = view
  const sort: Sort = { by, descending }
  const shown = useShown(rows, filter, sort)
  const environments = useMemo(() => {
    const types = new Map(rows[0]?.environments.map(({ name, type }) => [name, type]))
    return project.data?.environments.map(({ environment: name }) => ({ name, type: types.get(name) ?? '' })) ?? []
  }, [project.data, rows])
  const filters = useMemo(() => flagFilters(rows, environments.map(environmentChoice)), [rows, environments])
  const onFilter = useCallback((change: Partial<FlagFilter>) => setView(change), [setView])
  const newFlag = (
    <Button variant="primary" icon={<Icons.Plus />} disabledReason={can('CREATE_FEATURE', projectId).reason} onClick={() => setView({ create: true })}>
      Create flag
    </Button>
  )
  if (list.error && !list.data) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />
  const empty = list.data && rows.length === 0
  return (
    <>
      <FlagTable
        label={`Flags of ${project.data?.name ?? projectId}`}
        projects={projects}
        environments={environments}
        rows={shown}
        all={rows}
        sort={sort}
        onSort={({ by, descending }) => setView({ sort: by, desc: descending })}
        loading={list.isPending || project.isPending}
        bar={(columns) =>
          !empty && (
            <FilterBar
              noun="flag"
              search="Search name, description or tag"
              filters={filters}
              values={filter}
              onChange={onFilter}
              shown={list.isPending ? undefined : shown.length}
              total={rows.length}
            >
              {columns}
              {newFlag}
            </FilterBar>
          )
        }
        empty={
          empty ? (
            <EmptyState title="No flags yet" action={newFlag}>
              <FirstSteps projectId={projectId} />
            </EmptyState>
          ) : (
            <EmptyState icon={<Icons.Search />} title="No flag matches" action={<Button onClick={() => onFilter(noFilter)}>Clear the filters</Button>}>
              <p>Archived flags are on the Archive tab.</p>
            </EmptyState>
          )
        }
      />
      {create && <CreateFlagDialog projectId={projectId} onClose={() => setView({ create: false })} />}
    </>
  )
}

// The filtered and sorted flags. They follow the filter with low priority, so that typing stays fluent.
function useShown(rows: readonly FlagRow[], filter: FlagFilter, { by, descending }: Sort): readonly FlagRow[] {
  const wanted = useDeferredValue(JSON.stringify(filter))
  const sorted = useMemo(() => sortFlags(rows, { by, descending }), [rows, by, descending])
  return useMemo(() => filterFlags(sorted, JSON.parse(wanted) as FlagFilter), [sorted, wanted])
}
