import { describeConstraint, shownValues } from '../../../constraints/describe'
import { listed, number } from '../../../ui/format'
import type { Flag } from '../data'
import { listOf, percentageName, type StrategyDraft, type StrategyType } from './model'

type Described = Pick<StrategyDraft, 'name' | 'parameters' | 'constraints' | 'segments'>

/** Whom the type and the parameters of a strategy select, without its constraints: '25% of users, by userId'. */
export function describeAudience(strategy: Pick<Described, 'name' | 'parameters'>, types?: readonly StrategyType[]): string {
  const { name, parameters } = strategy
  if (percentageName(strategy)) return describeRollout(strategy)
  if (name === 'default') return 'Everyone'
  if (name === 'userWithId') return selectedUsers(listOf(parameters.userIds))
  if (name === 'remoteAddress') return selected('The IP addresses', parameters.IPs, 'No one: the list of IP addresses is empty')
  if (name === 'applicationHostname') return selected('Applications on the hosts', parameters.hostNames, 'No application: the list of hosts is empty')
  const type = types?.find((one) => one.name === name)
  const set = (type?.parameters.map((one) => one.name) ?? Object.keys(parameters)).filter((one) => parameters[one])
  const values = set.map((one) => `${one}: ${parameters[one]}`).join(', ')
  return `Whom the application selects by its strategy ${name}${values ? ` (${values})` : ''}`
}

function describeRollout(strategy: Pick<Described, 'name' | 'parameters'>): string {
  const value = strategy.parameters[percentageName(strategy) ?? ''] ?? ''
  const percent = Math.floor(Number(value))
  const stickiness = stickinessOf(strategy)
  const field = stickiness !== 'default' && stickiness !== 'random'
  if (value === '' || !Number.isFinite(percent)) return 'A percentage that has not been set'
  if (percent <= 0) return 'No one'
  if (percent >= 100) return field ? `Everyone with a ${stickiness}` : 'Everyone'
  if (stickiness === 'random') return `${percent}% of evaluations, at random each time`
  if (stickiness === 'sessionId') return `${percent}% of sessions`
  if (stickiness === 'default' || stickiness === 'userId') return `${percent}% of users`
  return `${percent}% of values of ${stickiness}`
}

/** The stickiness of a rollout, also of the old types that have it in their names. */
export function stickinessOf({ name, parameters }: Pick<Described, 'name' | 'parameters'>): string {
  if (name === 'gradualRolloutUserId') return 'userId'
  if (name === 'gradualRolloutSessionId') return 'sessionId'
  if (name === 'gradualRolloutRandom') return 'random'
  return parameters.stickiness || 'default'
}

function selected(noun: string, list: string | undefined, empty: string): string {
  const values = listOf(list)
  if (values.length === 0) return empty
  return `${noun} ${enumerate(values)}`
}

function enumerate(values: readonly string[]): string {
  const rest = values.length - shownValues
  if (rest > 1) return `${values.slice(0, shownValues).join(', ')} and ${rest} others`
  return listed(values)
}

/** Users by their IDs: 'The users a and b', or '30 users (a, b, c and 27 others)'. */
function selectedUsers(ids: readonly string[]): string {
  if (ids.length === 0) return 'No users: the list is empty'
  if (ids.length === 1) return `The user ${ids[0]}`
  return ids.length > shownValues + 1 ? `${number(ids.length)} users (${enumerate(ids)})` : `The users ${listed(ids)}`
}

/** The constraint that lists the users of a strategy for everyone else: it then is for these users. */
function usersOf(strategy: Described) {
  if (!['Everyone', 'Everyone with a userId'].includes(describeAudience(strategy))) return undefined
  return strategy.constraints.find(
    ({ contextName, operator, inverted, values }) => contextName === 'userId' && operator === 'IN' && !inverted && values.length > 0,
  )
}

/** What a strategy does, as a sentence: '25% of users in segment Beta, if country is one of NO.', or 'The users a and b.' */
export function describeStrategy(strategy: Described, segmentNames: ReadonlyMap<number, string>, types?: readonly StrategyType[]): string {
  const segments = strategy.segments.map((id) => segmentNames.get(id) ?? `#${id}`)
  const within = segments.length ? ` in ${segments.length === 1 ? 'segment' : 'all of the segments'} ${enumerate(segments)}` : ''
  const users = usersOf(strategy)
  const others = strategy.constraints.filter((one) => one !== users)
  const conditions = others.filter(({ contextName }) => contextName).map((constraint) => describeConstraint(constraint))
  if (conditions.length < others.length) conditions.push('an unfinished constraint holds')
  const where = conditions.length ? `, if ${conditions.join(', and ')}` : ''
  return `${users ? selectedUsers(users.values) : describeAudience(strategy, types)}${within}${where}.`.replace(/….$/, '…')
}

/** Whom the default strategy of a project selects, as a sentence. */
export const describeStandard = (strategy: Described & { disabled: boolean }, segmentNames: ReadonlyMap<number, string>) =>
  strategy.disabled ? 'No one, because it is disabled.' : describeStrategy(strategy, segmentNames)

/** What the parents of a flag restrict, as a sentence. */
export const onlyWhere = (dependencies: Flag['dependencies']) => `Only where ${dependencies.map(parentText).join(' and ')}, because the flag depends on it.`

/** The state that a parent must have. */
export const parentText = ({ feature, enabled, variants }: Flag['dependencies'][number]) =>
  `${feature} is ${enabled ? 'on' : 'off'}${variants.length > 0 ? ` with ${variants.join(' or ')}` : ''}`

const shownChildren = 10

/** The first names of many, and how many more there are. */
export function firstNames(names: readonly string[]): string {
  const more = names.length - shownChildren
  return `${names.slice(0, shownChildren).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/**
 * The flags that can change with a flag, because they depend on it. Where several flags change, unread are those of them on which still others
 * depend.
 */
export function childrenText(children: readonly string[], unread?: readonly string[]): string {
  const text = `These flags can change, too, because they depend on ${unread ? 'flags that change' : 'it'}: ${firstNames(children)}.`
  return unread?.length ? `${text} So can those that depend on ${firstNames(unread)}.` : text
}

/** What keeps the same person on the same side of a rollout, as a sentence; '' if the type is no rollout. */
export function describeStickiness(strategy: Pick<Described, 'name' | 'parameters'>): string {
  if (!percentageName(strategy)) return ''
  const stickiness = stickinessOf(strategy)
  if (stickiness === 'random') return 'Each evaluation is random, so the same person can get different results.'
  if (stickiness === 'default') return 'The same userId, or without one the same sessionId, always gets the same result. Without both it is decided at random.'
  return `The same ${stickiness} always gets the same result. Without a ${stickiness} the strategy does not apply, not even at 100%.`
}
