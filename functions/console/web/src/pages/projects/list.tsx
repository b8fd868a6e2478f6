import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { apiQuery, type Schema } from '../../api'
import { Page } from '../../shell'
import { DateTime, EmptyState, ErrorState, Icons, Meter, Table, number, type Column } from '../../ui'

type Project = Schema<'ProjectRow'>

const columns: Column<Project>[] = [
  {
    id: 'name',
    header: 'Name',
    cell: (project) => (
      <Link to="/projects/$projectId" params={{ projectId: project.id }} className="strong">
        {project.name}
      </Link>
    ),
  },
  { id: 'health', header: 'Health', cell: (project) => <Meter label={`Health of ${project.name}`} value={project.health ?? 100} kind="ok" /> },
  { id: 'flags', header: 'Flags', align: 'right', cell: (project) => number(project.featureCount ?? 0) },
  { id: 'created', header: 'Created', cell: (project) => <DateTime value={project.createdAt} /> },
]

/** All projects. */
export default function ProjectsPage() {
  const projects = useQuery(apiQuery('/api/admin/projects'))
  return (
    <Page title="Projects">
      {projects.error ? (
        <ErrorState error={projects.error} onRetry={() => void projects.refetch()} />
      ) : (
        <Table
          label="Projects"
          columns={columns}
          rows={projects.data?.projects ?? []}
          rowKey={(project) => project.id}
          loading={projects.isPending}
          empty={
            <EmptyState icon={<Icons.Folder />} title="No projects">
              A project groups flags, and who may change them.
            </EmptyState>
          }
        />
      )}
    </Page>
  )
}
