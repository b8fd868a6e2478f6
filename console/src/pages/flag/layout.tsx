import { Outlet, useMatchRoute } from '@tanstack/react-router'
import { isNotFound } from '../../api'
import { DraftBar } from '../../requests/bar'
import { Page } from '../../shell'
import { Badge, CopyButton, ErrorState, Loading, words, type Tab } from '../../ui'
import { FlagActions } from './actions'
import { useFlag, useFlagParams, useProject } from './data'
import './flag.css'
import { MissingFlag } from './missing'
import { FlagRail } from './rail'

/** The frame of the pages of a flag: its name, its state, its actions and the tabs. */
export default function FlagLayout() {
  const params = useFlagParams()
  const { projectId, flag } = params
  const query = useFlag()
  const project = useProject(projectId)
  const overview = useMatchRoute()({ to: '/projects/$projectId/flags/$flag', params })
  const tabs: Tab[] = [
    { label: 'Overview', link: { to: '/projects/$projectId/flags/$flag', params } },
    { label: 'Variants', link: { to: '/projects/$projectId/flags/$flag/variants', params } },
    { label: 'Usage', link: { to: '/projects/$projectId/flags/$flag/usage', params } },
    { label: 'History', link: { to: '/projects/$projectId/flags/$flag/history', params } },
    { label: 'Settings', link: { to: '/projects/$projectId/flags/$flag/settings', params } },
  ]
  const crumbs = [
    { label: 'Projects', link: { to: '/projects' as const } },
    { label: project?.name ?? projectId, link: { to: '/projects/$projectId' as const, params: { projectId } } },
  ]
  if (isNotFound(query.error)) return <MissingFlag project={projectId} name={flag} error={query.error} crumbs={crumbs} />
  const data = query.data
  return (
    <Page
      title={flag}
      crumbs={crumbs}
      tabs={tabs}
      aside={
        <>
          <CopyButton text={flag} label="Copy name" />
          {data && <Badge>{words(data.type)}</Badge>}
          {data?.stale && (
            <span title="The flag has served its purpose and should be removed from the code.">
              <Badge>Stale</Badge>
            </span>
          )}
        </>
      }
      actions={data && <FlagActions flag={data} />}
      description={data?.description}
      rail={data && overview && <FlagRail flag={data} />}
    >
      <DraftBar project={projectId} flag={flag} inPlace={Boolean(overview)} />
      {data ? <Outlet /> : query.error ? <ErrorState error={query.error} onRetry={() => void query.refetch()} /> : <Loading />}
    </Page>
  )
}
