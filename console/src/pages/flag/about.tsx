import { useQueries, useQuery } from '@tanstack/react-query'
import { actorOf, apiQuery } from '../../api'
import { isRecent, type Operator } from '../../constraints'
import { DateTime, Icons, LinkButton, Notice, Section, number, usesNoted } from '../../ui'
import { Owners } from '../projects/owners'
import { useProject, type Flag, type FlagEnvironment } from './data'
import { useSegments } from './strategy/list'

/** Who created the flag, whom to ask about it, and the way to try it for a user. */
export function About({ flag }: { flag: Flag }) {
  const project = useProject(flag.project)
  const events = useQuery({
    ...apiQuery('/api/admin/events/{featureName}', { path: { featureName: flag.name }, query: { type: 'IS:feature-created', limit: '1' } }),
    staleTime: Infinity,
  })
  const created = events.data?.events[0]
  const search = {
    projects: flag.project,
    environments: [...flag.environments]
      .sort((a, b) => Number(b.enabled) - Number(a.enabled))
      .map((one) => one.name)
      .join(','),
    q: flag.name,
  }
  return (
    <Section>
      <div className="row-apart">
        <p className="soft">
          Created {created && <>by {actorOf(created)}, </>}
          <DateTime value={flag.createdAt} />. {project && <Owners owners={project.owners} />}.
        </p>
        <LinkButton size="small" icon={<Icons.Play />} to="/playground" search={search as never}>
          Try it for a user
        </LinkButton>
      </div>
    </Section>
  )
}

const hours = '24'

/** The sums of an environment within a day, by application. */
function useDay(flag: Flag, environment: FlagEnvironment) {
  const usage = useQuery({
    ...apiQuery('/api/admin/client-metrics/features/{featureName}/raw', { path: { featureName: flag.name }, query: { hoursBack: hours } }),
    staleTime: 60_000,
  })
  return (usage.data?.data ?? []).filter((row) => row.environment === environment.name)
}

/** How often the flag was on and off in an environment within a day. */
export function DailyUse({ flag, environment }: { flag: Flag; environment: FlagEnvironment }) {
  const rows = useDay(flag, environment)
  if (!environment.lastSeenAt) return <>Not used yet</>
  const sum = (of: 'yes' | 'no') => rows.reduce((total, row) => total + row[of], 0)
  return (
    <>
      {rows.length > 0 && (
        <span className="number">
          {number(sum('yes'))} on, {number(sum('no'))} off in {hours} h ·{' '}
        </span>
      )}
      Used <DateTime value={environment.lastSeenAt} noted={usesNoted} />
    </>
  )
}

/**
 * Names the applications of the day, five at most, with an SDK that does not know an operator of the flag's strategies or their segments. The
 * overview of an application reads all its flags, so it is read once, and only for operators that some SDKs do not know.
 */
export function UnknownOperators({ flag, environment }: { flag: Flag; environment: FlagEnvironment }) {
  const rows = useDay(flag, environment)
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
      <Notice key={appName} kind="warn">
        {`An SDK of ${appName} does not know ${operators.join(', ')}. There, strategies with it apply to no one.`}
      </Notice>
    )
  })
}
