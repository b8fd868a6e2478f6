// What saving a segment changes at once in production.
import type { QueryClient } from '@tanstack/react-query'
import { api, apiQuery, type Schema } from '../../api'
import { describeConstraints, type Constraint } from '../../constraints'
import { constraintDifferences } from '../../constraints/difference'
import { SkipsFreeze } from '../../requests/freeze'
import { ProductionMark, isProduction, number } from '../../ui'
import { ProjectName } from '../../ui/projectname'

/** A flag that is on in an environment, where a strategy of it uses the segment. */
export interface LiveUse {
  flag: string
  project: string
  environment: Schema<'Environment'>
}

/**
 * Finds the flags that a change of a segment affects at once, in environments that ask, those in production first. It looks at up to 1,000
 * strategies. If more flags are on than a search returns, all that use the segment count as on. A search cannot name segments with a comma, or
 * space at an end.
 */
export async function liveUses(
  client: QueryClient,
  { id, name }: Schema<'Segment'>,
  asks: (environment: Schema<'Environment'>) => boolean,
): Promise<LiveUse[]> {
  const [{ strategies }, { environments }] = await Promise.all([
    api.get('/api/admin/segments/{id}/strategies', { path: { id }, query: { limit: '1000' } }),
    client.fetchQuery(apiQuery('/api/admin/environments')),
  ])
  const [production, others] = [environments.filter(isProduction), environments.filter((one) => !isProduction(one))]
  const found = [...production, ...others].filter(asks).map(async (environment) => {
    const using = new Map(strategies.filter((one) => one.environment === environment.name).map((one) => [one.featureName, one.projectId]))
    if (using.size === 0) return []
    const { features, total = 0 } = await api.get('/api/admin/search/features', {
      query: { segment: /^\s|,|\s$/.test(name) ? undefined : `INCLUDE:${name}`, status: `${environment.name}:enabled`, limit: '100' },
    })
    const on = new Set(features.map((feature) => feature.name))
    return [...using].filter(([flag]) => on.has(flag) || total > features.length).map(([flag, project]) => ({ flag, project, environment }))
  })
  return (await Promise.all(found)).flat()
}

const shownUses = 20

const whoIsIn = (constraints: readonly Constraint[]) => (constraints.length === 0 ? 'Everyone' : describeConstraints(constraints))

// One use for each environment of a project.
const placesOf = (live: LiveUse[]) => [...new Map(live.map((use) => [`${use.project} ${use.environment.name}`, use])).values()]

/** Who is in the segment before and after the change, and the flags that it affects. */
export function Affected({ live, before, after }: { live: LiveUse[]; before: readonly Constraint[]; after: readonly Constraint[] }) {
  return (
    <>
      <p className="strong break">
        {whoIsIn(before)}
        {whoIsIn(before) !== whoIsIn(after) && ` → ${whoIsIn(after)}`}
      </p>
      {constraintDifferences(before, after).map((one) => (
        <p key={one} className="strong break">
          {one}
        </p>
      ))}
      <p>{live.length > 0 ? 'Flags that are on and use the segment:' : 'No flag that is on uses the segment.'}</p>
      <ul aria-label="Flags that are on and use the segment">
        {live.slice(0, shownUses).map(({ flag, project, environment }) => (
          <li key={`${flag} ${environment.name}`} className="break">
            <span className="strong">{flag}</span> in {environment.name} <ProductionMark type={environment.type} /> (project <ProjectName id={project} />)
          </li>
        ))}
        {live.length > shownUses && <li>and {number(live.length - shownUses)} more</li>}
      </ul>
      {placesOf(live).map(({ project, environment: { name } }) => (
        <SkipsFreeze key={`${project} ${name}`} project={project} environment={name} named />
      ))}
    </>
  )
}
