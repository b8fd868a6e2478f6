import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { apiQuery, type Schema } from '../../api'
import { Page, useUrlState } from '../../shell'
import { DateTime, EmptyState, ErrorState, Icons, LinkButton, Pagination, SearchField, Table, plural, reportsNoted, type Column } from '../../ui'
import { useProjectNames } from '../../ui/projectname'
import { useSettled } from './settled'

type Application = Schema<'ApplicationRow'>

const pageSize = 50

const columns: Column<Application>[] = [
  {
    id: 'name',
    header: 'Name',
    cell: (app) => (
      <>
        <Link to="/applications/$app" params={{ app: app.appName }} className="strong break">
          {app.appName}
        </Link>
        {app.description && <p className="soft small break">{app.description}</p>}
      </>
    ),
  },
  { id: 'environments', header: 'Environments', cell: (app) => list(app.usage.flatMap((usage) => usage.environments)) },
  { id: 'projects', header: 'Projects of its tokens', cell: (app) => <Projects ids={app.usage.map(({ project }) => project)} /> },
  { id: 'updated', header: 'Last report', cell: (app) => <DateTime value={app.updatedAt} noted={reportsNoted} /> },
]

function Projects({ ids }: { ids: readonly string[] }) {
  const nameOf = useProjectNames()
  return list(ids.map((id) => (id === '*' ? 'All' : nameOf(id))))
}

function list(names: readonly string[]) {
  const all = [...new Set(names.filter((name) => name !== '*'))].sort()
  if (all.length === 0) return <span className="soft">None</span>
  return <span className="break">{all.length > 5 ? `${all.slice(0, 5).join(', ')} and ${all.length - 5} more` : all.join(', ')}</span>
}

/** The applications that reported with an SDK. */
export default function ApplicationsPage() {
  const [view, setView] = useUrlState({ q: '', offset: 0 })
  const asked = useSettled(view)
  const applications = useQuery({
    ...apiQuery('/api/admin/metrics/applications', { query: { query: asked.q.trim(), offset: String(asked.offset), limit: String(pageSize) } }),
    placeholderData: keepPreviousData,
  })
  const total = applications.data?.total ?? 0
  const connect = (
    <LinkButton to="/connect" variant="primary" icon={<Icons.Plug />}>
      Connect an application
    </LinkButton>
  )
  return (
    <Page title="Applications" description="Programs that read flags with an SDK. They appear with their first report." actions={connect}>
      {applications.error ? (
        <ErrorState error={applications.error} onRetry={() => void applications.refetch()} />
      ) : applications.data?.total === 0 && !asked.q && !view.q ? (
        <EmptyState icon={<Icons.App />} title="No applications yet" action={connect}>
          An application appears here when its SDK reports for the first time. OpenFeature clients that use OFREP do not report.
        </EmptyState>
      ) : (
        <div className="stack">
          <div className="row-apart">
            <SearchField label="Search applications" value={view.q} onChange={(q) => setView({ q, offset: 0 })} maxLength={100} />
            <span className="soft">{plural(total, 'application')}</span>
          </div>
          <Table
            cards
            label="Applications"
            columns={columns}
            rows={applications.data?.applications ?? []}
            rowKey={(app) => app.appName}
            loading={applications.isPending}
            empty={<EmptyState icon={<Icons.Search />} title="No application matches" />}
          />
          {total > pageSize && (
            <Pagination noun="applications" offset={view.offset} limit={pageSize} total={total} onChange={(offset) => setView({ offset })} />
          )}
        </div>
      )}
    </Page>
  )
}
