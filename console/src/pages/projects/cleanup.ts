// Which flags can go, and why.
import type { Schema } from '../../api'
import { plural } from '../../ui/format'
import { isProduction } from '../../ui/production'
import { lastSeen } from './restore'

type Row = Schema<'ListedFeature'>

/** How long a flag has to be unused, or the same for everyone, before it is suggested. */
export const quietDays = 30

const day = 86_400_000
const daysSince = (time: string, now: Date) => Math.floor((now.getTime() - new Date(time).getTime()) / day)

/** Why a flag can go, as far as the list of flags tells: '' if it does not. lifetimes are days by type; null for types that stay. */
export function cleanUpReason(row: Row, lifetimes: ReadonlyMap<string, number | null>, now: Date): string {
  if (row.stale) return 'Marked as stale'
  if (row.lifecycle.stage === 'completed') return 'Completed'
  const lifetime = lifetimes.get(row.type)
  const stays = lifetime === null
  const age = daysSince(row.createdAt, now)
  const seen = lastSeen(row)
  if (!seen && age > quietDays) return `Never used in ${plural(age, 'day')}`
  if (seen && daysSince(seen, now) > quietDays) return `Not used for ${plural(daysSince(seen, now), 'day')}`
  if (!stays && lifetime && age > lifetime) return `${plural(age, 'day')} old; flags of this type are expected to last ${plural(lifetime, 'day')}`
  return ''
}

/** Whether a flag may have been on for everyone for a while, so that its strategies are worth reading. */
export function mayBeForEveryone(row: Row, lifetimes: ReadonlyMap<string, number | null>, now: Date): boolean {
  return (
    lifetimes.get(row.type) !== null &&
    row.lifecycle.stage === 'live' &&
    daysSince(row.lifecycle.enteredStageAt, now) > quietDays &&
    row.environments.some((one) => isProduction(one) && one.enabled)
  )
}

/** Whether a flag is on for everyone in each production environment: a strategy there leaves no one out. */
export function isForEveryone(flag: Pick<Schema<'FeatureRecord'>, 'environments'>): boolean {
  const production = flag.environments.filter(isProduction)
  return (
    production.length > 0 &&
    production.every(
      ({ enabled, strategies }) =>
        enabled &&
        strategies.some(
          ({ name, disabled, parameters, constraints, segments }) =>
            !disabled &&
            constraints.length === 0 &&
            segments.length === 0 &&
            (name === 'default' ||
              (name === 'flexibleRollout' && parameters.rollout === '100' && ['default', 'random'].includes(parameters.stickiness ?? 'default'))),
        ),
    )
  )
}

/** The reason of a flag that is on for everyone; '' if that is new. changed is when its history last has an entry. */
export function everyoneReason(changed: string, now: Date): string {
  const unchanged = daysSince(changed, now)
  return unchanged > quietDays ? `On for everyone, and unchanged for ${plural(unchanged, 'day')}` : ''
}
