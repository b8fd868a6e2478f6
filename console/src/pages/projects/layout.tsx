import { useQuery } from '@tanstack/react-query'
import { Outlet, useParams } from '@tanstack/react-router'
import { apiQuery, isNotFound } from '../../api'
import { DraftBar } from '../../requests/bar'
import { Page } from '../../shell'
import { Badge, EmptyState, ErrorState, Icons, LinkButton, type Tab } from '../../ui'
import { ProjectFavorite } from './favorite'
import { Owners } from './owners'
import './projects.css'
import { modes } from './view'

const crumbs = [{ label: 'Projects', link: { to: '/projects' } as const }]

/** The frame of the pages of a project: its name and the tabs. */
export default function ProjectLayout() {
  const { projectId } = useParams({ from: '/projects/$projectId' })
  const project = useQuery(apiQuery('/api/admin/projects/{projectId}/overview', { path: { projectId } }))
  const params = { projectId }
  if (isNotFound(project.error)) return <NoProject projectId={projectId} />
  const tabs: Tab[] = [
    { label: 'Flags', link: { to: '/projects/$projectId', params } },
    { label: 'Change requests', link: { to: '/projects/$projectId/change-requests', params } },
    { label: 'Health', link: { to: '/projects/$projectId/health', params } },
    { label: 'Applications', link: { to: '/projects/$projectId/applications', params } },
    { label: 'Audit log', link: { to: '/projects/$projectId/log', params } },
    { label: 'Settings', link: { to: '/projects/$projectId/settings', params } },
    { label: 'Environments', link: { to: '/projects/$projectId/environments', params }, rare: true },
    { label: 'Access', link: { to: '/projects/$projectId/access', params }, rare: true },
    { label: 'Tokens', link: { to: '/projects/$projectId/tokens', params }, rare: true },
    { label: 'Archive', link: { to: '/projects/$projectId/archive', params }, rare: true },
  ]
  const mode = modes.find((one) => one.value === project.data?.mode)
  const aside = project.data && (
    <>
      <ProjectFavorite id={projectId} name={project.data.name} favorite={project.data.favorite} />
      {mode && mode.value !== 'open' && <Badge>{mode.label}</Badge>}
      <span className="soft small project-about" title={project.data.description ?? undefined}>
        {project.data.description && `${project.data.description} · `}
        <Owners projectId={projectId} owners={project.data.owners} />
      </span>
    </>
  )
  return (
    <Page title={project.data?.name ?? projectId} aside={aside} tabs={tabs}>
      {project.error && !project.data ? (
        <ErrorState error={project.error} onRetry={() => void project.refetch()} />
      ) : (
        <>
          <DraftBar project={projectId} />
          {/* A tab reads what it shows while the project is being read. */}
          <Outlet />
        </>
      )}
    </Page>
  )
}

function NoProject({ projectId }: { projectId: string }) {
  return (
    <Page title="Project not found" crumbs={crumbs}>
      <EmptyState
        icon={<Icons.Folder />}
        title={`There is no project ${projectId}`}
        action={
          <LinkButton to="/projects" variant="primary">
            Show all projects
          </LinkButton>
        }
      >
        It was deleted, or the link has a wrong id.
      </EmptyState>
    </Page>
  )
}
