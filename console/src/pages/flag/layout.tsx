import { useQueries, useQuery } from '@tanstack/react-query'
import { Outlet, useMatchRoute } from '@tanstack/react-router'
import { useState } from 'react'
import { isNotFound } from '../../api'
import { DraftBar } from '../../requests/bar'
import { pendingOfFlag } from '../../requests/data'
import { protection } from '../../requests/drafts'
import { Page } from '../../shell'
import { Badge, CopyButton, ErrorState, Loading, words, type Tab } from '../../ui'
import { FlagActions } from './actions'
import { useFlag, useFlagParams, useProject, type Flag } from './data'
import './flag.css'
import { MissingFlag } from './missing'
import { plansQuery } from './plan/data'
import { FlagRail } from './rail'

/** The frame of the pages of a flag: its name, its state, its actions and the tabs. */
export default function FlagLayout() {
  const params = useFlagParams()
  const { projectId, flag } = params
  const query = useFlag()
  const project = useProject(projectId)
  const settled = useSettled(projectId, flag, query.data)
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
  const data = settled || !overview ? query.data : undefined
  return (
    <Page
      title={flag}
      crumbs={crumbs}
      // With the flag, or its description would push them down.
      tabs={data || query.error ? tabs : undefined}
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

// Whether everything has been read that makes the overview higher, so that nothing on it moves. It stays so.
function useSettled(projectId: string, name: string, flag?: Flag): boolean {
  const [settled, settle] = useState('')
  const guards = useQuery(protection(projectId))
  const requests = useQuery({ ...pendingOfFlag(projectId, name), enabled: Boolean(guards.data?.environments.length) })
  const plans = useQueries({ queries: (flag?.environments ?? []).map((one) => plansQuery(flag!, one)) })
  const now = settled === name || (flag !== undefined && ![guards, requests, ...plans].some((one) => one.isLoading))
  if (now && settled !== name) settle(name)
  return now
}
