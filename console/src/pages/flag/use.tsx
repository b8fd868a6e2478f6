import { useQueries, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { apiQuery } from '../../api'
import { isRecent, type Operator } from '../../constraints'
import { operatorName } from '../../constraints/operators'
import { DateTime, More, Notice, number, usesNoted } from '../../ui'
import type { Flag, FlagEnvironment } from './data'
import { Part } from './part'
import { useSegments } from './strategy/list'

/** The sums of a day, by environment and application. */
function useDay(flag: Flag) {
  const usage = useQuery({
    ...apiQuery('/api/admin/client-metrics/features/{featureName}/raw', { path: { featureName: flag.name }, query: { hoursBack: '24' } }),
    staleTime: 60_000,
  })
  return usage.data?.data ?? []
}

/** When applications last used the flag in an environment. If none has, it leads to the page that connects one. */
export function LastUse({ flag, environment }: { flag: Flag; environment: FlagEnvironment }) {
  if (environment.lastSeenAt)
    return (
      <span className="soft small">
        Used <DateTime value={environment.lastSeenAt} noted={usesNoted} />
      </span>
    )
  const search = { project: flag.project, environment: environment.name, flag: flag.name }
  return (
    <Link to="/connect" search={search as never} className="small" title="Connect an application that uses it">
      Not used yet
    </Link>
  )
}

/** How often the flag was on and off within a day in each environment, and the applications that said so. */
export function DailyUse({ flag }: { flag: Flag }) {
  const rows = useDay(flag)
  const sum = (environment: string, of: 'yes' | 'no') => rows.filter((row) => row.environment === environment).reduce((total, row) => total + row[of], 0)
  const used = flag.environments.filter(({ name }) => rows.some((row) => row.environment === name))
  const apps = [...new Set(rows.map((row) => row.appName))]
  const params = { projectId: flag.project, flag: flag.name }
  return (
    <>
      <Part
        title="Last 24 hours"
        action={
          used.length > 0 && (
            <Link to="/projects/$projectId/flags/$flag/usage" params={params} className="small">
              Usage
            </Link>
          )
        }
      >
        {used.map(({ name }) => (
          <p key={name}>
            <span className="break">{name}:</span> <span className="number">{number(sum(name, 'yes'))} on</span>,{' '}
            <span className="number">{number(sum(name, 'no'))} off</span>
          </p>
        ))}
        {used.length === 0 && <p className="soft">No use reported</p>}
      </Part>
      {apps.length > 0 && (
        <Part title="Used in">
          {apps.slice(0, shownApps).map((app) => (
            <p key={app}>
              <Link to="/applications/$app" params={{ app }} className="break">
                {app}
              </Link>
            </p>
          ))}
          <More values={apps.slice(shownApps)} label="More applications" />
        </Part>
      )}
    </>
  )
}

const shownApps = 5

/**
 * Names the applications of the day, five at most, with an SDK that does not know an operator of the flag's strategies or their segments. The
 * overview of an application reads all its flags, so it is read once, and only for operators that some SDKs do not know.
 */
export function UnknownOperators({ flag, environment }: { flag: Flag; environment: FlagEnvironment }) {
  const rows = useDay(flag).filter((row) => row.environment === environment.name)
  const segments = useSegments()
  const recent = (of: { constraints?: { operator: Operator }[] }) => of.constraints?.some(({ operator }) => isRecent(operator))
  const asked = environment.strategies.some((one) => recent(one) || segments.some((segment) => one.segments?.includes(segment.id) && recent(segment)))
  const names = asked ? [...new Set(rows.map((row) => row.appName))].slice(0, 5) : []
  const overviews = useQueries({
    queries: names.map((appName) => ({ ...apiQuery('/api/admin/metrics/applications/{appName}/overview', { path: { appName } }), staleTime: Infinity })),
  })
  return names.map((appName, index) => {
    const operators = overviews[index]?.data?.environments
      .find((one) => one.name === environment.name)
      ?.issues.unknownOperators.filter((one) => one.featureName === flag.name)
      .map((one) => one.operator)
    if (!operators?.length) return null
    return (
      <Notice key={appName}>
        {`An SDK of ${appName} does not know the operator ${operators.map(operatorName).join(', ')}. There, strategies with it apply to no one.`}
      </Notice>
    )
  })
}
