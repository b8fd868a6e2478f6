import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useCallback } from 'react'
import { apiQuery, type Schema } from '../../api'
import { Page, useUrlState } from '../../shell'
import { Badge, Button, DateTime, EmptyState, ErrorState, Icons, Pagination, Select, Table, type Column, type Sort } from '../../ui'
import { EnvironmentName } from '../../ui/environmentname'
import { SearchBox } from './filters'
import './flags.css'
import { flagTypes, lifecycleStages, typeName } from './rows'

type Found = Schema<'FoundFeature'>

const pageSize = 50

const columns: Column<Found>[] = [
  {
    id: 'name',
    header: 'Name',
    sortable: true,
    cell: (flag) => (
      <>
        <Link to="/projects/$projectId/flags/$flag" params={{ projectId: flag.project, flag: flag.name }} className="plain-link strong break">
          {flag.name}
        </Link>{' '}
        {flag.stale && <Badge kind="warn">Stale</Badge>}
        {flag.description && <div className="soft small flags-description">{flag.description}</div>}
      </>
    ),
  },
  {
    id: 'project',
    header: 'Project',
    sortable: true,
    cell: (flag) => (
      <Link to="/projects/$projectId" params={{ projectId: flag.project }} className="plain-link">
        {flag.project}
      </Link>
    ),
  },
  {
    id: 'on',
    header: 'On in',
    cell: (flag) => (
      <span className="row">
        {flag.environments
          .filter((environment) => environment.enabled)
          .map((environment) => (
            <EnvironmentName key={environment.name} name={environment.name} badge="ok" />
          ))}
      </span>
    ),
  },
  { id: 'type', header: 'Type', sortable: true, cell: (flag) => <span className="soft nowrap">{typeName(flag.type)}</span> },
  { id: 'createdAt', header: 'Created', sortable: true, cell: (flag) => <DateTime value={flag.createdAt} /> },
]

const start = { q: '', project: '', type: '', state: '', lifecycle: '', sort: 'name', desc: false as boolean, offset: 0 as number }

const is = (value: string) => (value ? `IS:${value}` : undefined)

/** Flags of all projects, found by the server a page at a time. */
export default function SearchPage() {
  const [view, setView] = useUrlState(start)
  const projects = useQuery({ ...apiQuery('/api/admin/projects'), staleTime: 60_000 })
  const found = useQuery({
    ...apiQuery('/api/admin/search/features', {
      query: {
        query: view.q.trim(),
        project: is(view.project),
        type: is(view.type),
        state: is(view.state),
        lifecycle: is(view.lifecycle),
        sortBy: view.sort,
        sortOrder: view.desc ? 'desc' : 'asc',
        offset: String(view.offset),
        limit: String(pageSize),
      },
    }),
    placeholderData: keepPreviousData,
  })
  const filter = useCallback((change: Partial<typeof start>) => setView({ ...change, offset: 0 }), [setView])
  const onText = useCallback((q: string) => filter({ q }), [filter])
  const sort: Sort = { by: view.sort, descending: view.desc }
  const filtered = Boolean(view.q || view.project || view.type || view.state || view.lifecycle)
  const all = projects.data?.projects ?? []
  return (
    <Page title="Search" description="Finds flags of all projects by their name and tags.">
      <div className="flags-filters flags-filters-open" role="search" aria-label="Search the flags of all projects">
        <SearchBox label="Search name or tag" value={view.q} onChange={onText} />
        <Select
          hideLabel
          label="Project"
          value={view.project}
          onChange={(project) => filter({ project })}
          choices={[{ value: '', label: 'All projects' }, ...all.map(({ id, name }) => ({ value: id, label: name }))]}
        />
        <Select hideLabel label="Type" value={view.type} onChange={(type) => filter({ type })} choices={[{ value: '', label: 'Any type' }, ...flagTypes]} />
        <Select
          hideLabel
          label="Lifecycle"
          value={view.lifecycle}
          onChange={(lifecycle) => filter({ lifecycle })}
          choices={[{ value: '', label: 'Any stage' }, ...lifecycleStages]}
        />
        <Select
          hideLabel
          label="State"
          value={view.state}
          onChange={(state) => filter({ state })}
          choices={[
            { value: '', label: 'Active and stale' },
            { value: 'active', label: 'Active' },
            { value: 'stale', label: 'Stale' },
          ]}
        />
      </div>
      {found.error ? (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      ) : (
        <Table
          label="Found flags"
          columns={columns}
          rows={found.data?.features ?? []}
          rowKey={(flag) => flag.name}
          loading={found.isPending}
          sort={sort}
          onSort={({ by, descending }) => filter({ sort: by, desc: descending })}
          empty={
            filtered ? (
              <EmptyState icon={<Icons.Search />} title="No flag matches" action={<Button onClick={() => filter(start)}>Clear the search</Button>}>
                <p>Archived flags are on the Archive tab of their project.</p>
              </EmptyState>
            ) : (
              <EmptyState icon={<Icons.Flag />} title="No flags yet">
                <p>Open a project to create the first flag.</p>
              </EmptyState>
            )
          }
        />
      )}
      {found.data && (
        <Pagination
          noun="flags"
          offset={view.offset}
          limit={pageSize}
          total={found.data.total ?? 0}
          onChange={(offset) => setView({ offset }, { push: true })}
        />
      )}
    </Page>
  )
}
