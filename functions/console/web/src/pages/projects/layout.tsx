import { useQuery } from '@tanstack/react-query'
import { Outlet, useParams } from '@tanstack/react-router'
import { apiQuery } from '../../api'
import { Page } from '../../shell'
import { Loaded, type Tab } from '../../ui'

/** The frame of the pages of a project: its name and the tabs. */
export default function ProjectLayout() {
  const { projectId } = useParams({ from: '/projects/$projectId' })
  const project = useQuery(apiQuery('/api/admin/projects/{projectId}/overview', { path: { projectId } }))
  const params = { projectId }
  const tabs: Tab[] = [
    { label: 'Flags', link: { to: '/projects/$projectId', params } },
    { label: 'Health', link: { to: '/projects/$projectId/health', params } },
    { label: 'Applications', link: { to: '/projects/$projectId/applications', params } },
    { label: 'Environments', link: { to: '/projects/$projectId/environments', params } },
    { label: 'Access', link: { to: '/projects/$projectId/access', params } },
    { label: 'Tokens', link: { to: '/projects/$projectId/tokens', params } },
    { label: 'Archive', link: { to: '/projects/$projectId/archive', params } },
    { label: 'Settings', link: { to: '/projects/$projectId/settings', params } },
  ]
  return (
    <Page title={project.data?.name ?? projectId} description={project.data?.description} crumbs={[{ label: 'Projects', link: { to: '/projects' } }]} tabs={tabs}>
      <Loaded query={project}>{() => <Outlet />}</Loaded>
    </Page>
  )
}
