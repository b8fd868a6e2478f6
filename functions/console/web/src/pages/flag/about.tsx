import { useQuery } from '@tanstack/react-query'
import { actorOf, apiQuery } from '../../api'
import { DateTime, Icons, LinkButton, Section, number } from '../../ui'
import { Owners } from '../projects/owners'
import { useProject, type Flag, type FlagEnvironment } from './data'

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

/** How often the flag was on and off in an environment within a day. */
export function DailyUse({ flag, environment }: { flag: Flag; environment: FlagEnvironment }) {
  const usage = useQuery({
    ...apiQuery('/api/admin/client-metrics/features/{featureName}/raw', { path: { featureName: flag.name }, query: { hoursBack: hours } }),
    staleTime: 60_000,
  })
  if (!environment.lastSeenAt) return <>Not used yet</>
  const rows = (usage.data?.data ?? []).filter((row) => row.environment === environment.name)
  const sum = (of: 'yes' | 'no') => rows.reduce((total, row) => total + row[of], 0)
  return (
    <>
      {rows.length > 0 && (
        <span className="number">
          {number(sum('yes'))} on, {number(sum('no'))} off in {hours} h ·{' '}
        </span>
      )}
      Used <DateTime value={environment.lastSeenAt} />
    </>
  )
}
