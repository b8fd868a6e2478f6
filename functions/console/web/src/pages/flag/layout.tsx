import { useQuery } from '@tanstack/react-query'
import { Outlet, useParams } from '@tanstack/react-router'
import { apiQuery } from '../../api'
import { Page } from '../../shell'
import { Loaded, type Tab } from '../../ui'

/** The frame of the pages of a flag: its name and the tabs. */
export default function FlagLayout() {
  const params = useParams({ from: '/projects/$projectId/flags/$flag' })
  const { projectId, flag } = params
  const feature = useQuery(apiQuery('/api/admin/projects/{projectId}/features/{featureName}', { path: { projectId, featureName: flag } }))
  const tabs: Tab[] = [
    { label: 'Overview', link: { to: '/projects/$projectId/flags/$flag', params } },
    { label: 'Variants', link: { to: '/projects/$projectId/flags/$flag/variants', params } },
    { label: 'Usage', link: { to: '/projects/$projectId/flags/$flag/usage', params } },
    { label: 'History', link: { to: '/projects/$projectId/flags/$flag/history', params } },
    { label: 'Settings', link: { to: '/projects/$projectId/flags/$flag/settings', params } },
  ]
  return (
    <Page
      title={flag}
      description={feature.data?.description}
      crumbs={[
        { label: 'Projects', link: { to: '/projects' } },
        { label: projectId, link: { to: '/projects/$projectId', params: { projectId } } },
      ]}
      tabs={tabs}
    >
      <Loaded query={feature}>{() => <Outlet />}</Loaded>
    </Page>
  )
}
