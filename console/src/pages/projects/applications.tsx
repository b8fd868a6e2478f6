import { useQuery, keepPreviousData } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { apiQuery, type Schema } from '../../api'
import { useUrlState } from '../../shell'
import { EmptyState, ErrorState, Icons, LinkButton, Pagination, SearchField, Table, number, type Column } from '../../ui'
import { EnvironmentName } from '../../ui/environmentname'

type Application = Schema<'ProjectApplication'>

const pageSize = 50
const shownSDKs = 3

const columns: Column<Application>[] = [
  {
    id: 'name',
    header: 'Application',
    cell: ({ name }) => (
      <Link to="/applications/$app" params={{ app: name }} className="strong break">
        {name}
      </Link>
    ),
  },
  {
    id: 'environments',
    header: 'Environments',
    cell: ({ environments }) => (
      <span className="row">
        {environments.map((environment) => (
          <EnvironmentName key={environment} name={environment} badge="neutral" />
        ))}
      </span>
    ),
  },
  { id: 'instances', header: 'Instances', align: 'right', cell: ({ instances }) => number(instances.length) },
  {
    id: 'sdks',
    header: 'SDKs',
    cell: ({ sdks }) => (
      <span className="break">
        {sdks
          .slice(0, shownSDKs)
          .map(({ name, versions }) => `${name} ${versions.join(', ')}`)
          .join('; ')}
        {sdks.length > shownSDKs && ` and ${sdks.length - shownSDKs} more`}
      </span>
    ),
  },
]

/** The applications that use the flags of a project. */
export default function ApplicationsTab() {
  const { projectId } = useParams({ from: '/projects/$projectId' })
  const [view, setView] = useUrlState({ q: '', offset: 0 })
  const query = { query: view.q, offset: String(view.offset), limit: String(pageSize) }
  const applications = useQuery({
    ...apiQuery('/api/admin/projects/{projectId}/applications', { path: { projectId }, query }),
    placeholderData: keepPreviousData,
  })
  if (applications.error && !applications.data) return <ErrorState error={applications.error} onRetry={() => void applications.refetch()} />
  const total = applications.data?.total ?? 0
  return (
    <>
      {(total > 0 || view.q !== '') && (
        <div className="row">
          <SearchField label="Search applications" value={view.q} onChange={(q) => setView({ q, offset: 0 })} maxLength={100} />
        </div>
      )}
      <Table
        cards
        label="Applications"
        columns={columns}
        rows={applications.data?.applications ?? []}
        rowKey={({ name }) => name}
        loading={applications.isPending}
        empty={view.q ? <NoMatch text={view.q} /> : <NoApplications />}
      />
      {total > pageSize && (
        <Pagination noun="applications" offset={view.offset} limit={pageSize} total={total} onChange={(offset) => setView({ offset }, { push: true })} />
      )}
    </>
  )
}

function NoMatch({ text }: { text: string }) {
  return (
    <EmptyState icon={<Icons.Search />} title="No application matches">
      No name, environment or SDK contains “{text}”.
    </EmptyState>
  )
}

function NoApplications() {
  return (
    <EmptyState
      icon={<Icons.App />}
      title="No application uses this project yet"
      action={
        <LinkButton to="/connect" variant="primary" icon={<Icons.Plug />}>
          Connect an application
        </LinkButton>
      }
    >
      An application appears here when its SDK evaluates a flag of the project, or when its token names the project.
    </EmptyState>
  )
}
