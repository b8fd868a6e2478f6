import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import { apiQuery, useMe } from '../../api'
import { Page, useUrlState } from '../../shell'
import { Button, EmptyState, ErrorState, Icons, Pagination, environmentChoice, type Sort } from '../../ui'
import { FilterBar, type Filter } from '../../ui/filters'
import { projectsOf } from './data'
import { CreateFlagDialog } from './create'
import { commonFilters } from './filters'
import type { FlagRow } from './rows'
import { FlagTable } from './table'

const pageSize = 50
const shownTags = 1000
const none: FlagRow[] = []
const noFilter = { q: '', project: '', type: '', state: '', lifecycle: '', tag: '', status: '', owner: '' }
const start = { ...noFilter, sort: 'name', desc: false as boolean, offset: 0 as number, create: '' }

// What the server calls the columns that it sorts by.
const sortNames: Record<string, string> = { seen: 'lastSeenAt', created: 'createdAt' }

const is = (value: string) => (value ? `IS:${value}` : undefined)

/** The flags of all projects, found by the server a page at a time, favorites first. */
export default function AllFlagsPage() {
  const [view, setView] = useUrlState(start)
  const { can } = useMe()
  const projects = useQuery({ ...apiQuery('/api/admin/projects'), staleTime: 60_000 }).data?.projects ?? []
  const choices = projects.map(({ id, name }) => ({ value: id, label: name }))
  const own = choices.filter(({ value }) => can('CREATE_FEATURE', value).allowed)
  const tags = useQuery({ ...apiQuery('/api/admin/tags', { query: { limit: String(shownTags) } }), staleTime: 60_000 }).data?.tags
  const allEnvironments = useQuery({ ...apiQuery('/api/admin/environments'), staleTime: 60_000 }).data?.environments
  const found = useQuery({
    ...apiQuery('/api/admin/search/features', {
      query: {
        query: view.q.trim(),
        project: is(view.project),
        type: is(view.type),
        state: is(view.state),
        lifecycle: is(view.lifecycle),
        owner: is(view.owner),
        tag: view.tag ? `INCLUDE:${view.tag}` : undefined,
        status: view.status ? view.status.replace(/:on$/, ':enabled').replace(/:off$/, ':disabled') : undefined,
        favoritesFirst: 'true',
        sortBy: sortNames[view.sort] ?? view.sort,
        sortOrder: view.desc ? 'desc' : 'asc',
        offset: String(view.offset),
        limit: String(pageSize),
      },
    }),
    placeholderData: keepPreviousData,
  })
  const filter = useCallback((change: Partial<typeof start>) => setView({ ...change, offset: 0 }), [setView])
  const rows: FlagRow[] = found.data?.features ?? none
  const environments = useMemo(() => {
    const used = new Set(rows.flatMap((row) => row.environments.map(({ name }) => name)))
    return (allEnvironments ?? []).filter(({ name, enabled }) => enabled && (rows.length === 0 || used.has(name))).map(({ name, type }) => ({ name, type }))
  }, [allEnvironments, rows])
  const shownProjects = useMemo(() => projectsOf(rows), [rows])
  const sort: Sort = { by: view.sort, descending: view.desc }
  const filters: Filter<Exclude<keyof typeof noFilter, 'q'>>[] = [
    { name: 'project', label: 'Project', choices },
    ...commonFilters(
      environments.map(environmentChoice),
      (tags ?? []).map(({ type, value }) => ({ value: `${type}:${value}`, label: `${type}:${value}` })),
    ),
    { name: 'owner', label: 'Owner' },
  ]
  const filtered = Object.keys(noFilter).some((name) => view[name as keyof typeof noFilter] !== '')
  const first = view.project || (own.find(({ value }) => value === 'default') ?? own[0])?.value
  const newFlag = (
    <Button
      variant="primary"
      icon={<Icons.Plus />}
      disabledReason={first ? can('CREATE_FEATURE', first).reason : 'You cannot create flags in any project.'}
      onClick={() => setView({ create: first })}
    >
      Create flag
    </Button>
  )
  return (
    <Page title="Flags">
      {found.error ? (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      ) : (
        <FlagTable
          label="Flags of all projects"
          projects={shownProjects}
          projectName={(id) => projects.find((project) => project.id === id)?.name ?? id}
          environments={environments}
          rows={rows}
          sort={sort}
          onSort={({ by, descending }) => filter({ sort: by, desc: descending })}
          loading={found.isPending || !allEnvironments}
          bar={(columns) => (
            <FilterBar noun="flag" search="Search name or tag" filters={filters} values={view} onChange={filter} shown={found.data?.total}>
              {columns}
              {newFlag}
            </FilterBar>
          )}
          empty={
            filtered ? (
              <EmptyState icon={<Icons.Search />} title="No flag matches" action={<Button onClick={() => filter(noFilter)}>Clear the filters</Button>}>
                <p>Archived flags are on the Archive tab of their project.</p>
              </EmptyState>
            ) : (
              <EmptyState title="No flags yet" action={newFlag}>
                <p>A flag turns a part of your software on and off without a deployment.</p>
              </EmptyState>
            )
          }
        />
      )}
      {found.data && (found.data.total ?? 0) > pageSize && (
        <Pagination
          noun="flags"
          offset={view.offset}
          limit={pageSize}
          total={found.data.total ?? 0}
          onChange={(offset) => setView({ offset }, { push: true })}
        />
      )}
      {view.create && (
        <CreateFlagDialog projectId={view.create} projects={own} onProject={(id) => setView({ create: id })} onClose={() => setView({ create: '' })} />
      )}
    </Page>
  )
}
