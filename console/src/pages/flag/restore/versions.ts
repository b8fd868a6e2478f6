// Which versions of a flag, its strategies and its variants the history has.
import type { Schema } from '../../../api'
import type { Flag } from '../data'
import type { Strategy } from '../strategy/model'
import type { Variant } from '../variants/model'

/** What an event has of one part of a flag: the versions before and after it. */
export type Restorable =
  | ({ kind: 'strategy'; environment: string; id: string } & Versions<Strategy>)
  | ({ kind: 'order'; environment: string } & Versions<Order>)
  | ({ kind: 'variants'; environment: string } & Versions<Variant[]>)
  | ({ kind: 'settings' } & Versions<Settings>)
  | ({ kind: 'tags' } & Versions<Tag[]>)

export interface Versions<State> {
  /** Absent if it did not exist. */
  before?: State
  after?: State
}

/** The places of strategies by their ids. */
export type Order = Record<string, number>
/** What the form of a flag's settings has. */
export type Settings = Pick<Flag, 'description' | 'type' | 'impressionData'> & Record<'valueType' | 'defaultValue' | 'valueSchema', Schema<'Anything'>>
export type Tag = Schema<'Tag'>

type Event = Pick<Schema<'LoggedEvent'>, 'type' | 'environment' | 'data' | 'preData'>

/** Everything of an event that can be restored: only what the event has completely. */
export function restorableOf({ type, environment, data, preData }: Event): Restorable[] {
  // Its milestones set the strategies of a release plan.
  if (/^(release-plan|safeguard)-/.test(type)) return []
  // An entry for each environment.
  if (type === 'feature-environment-variants-updated' || type === 'feature-variants-updated')
    return Object.keys({ ...preData, ...data }).flatMap((name) => variantsIn(name, preData?.[name], data?.[name]))
  if (type === 'strategy-order-changed' && environment)
    return changed({ kind: 'order', environment, before: preData as Order | undefined, after: data as Order | undefined })
  // The event of one tag has nothing on the other side.
  const none = type === 'feature-tagged' || type === 'feature-untagged' ? [] : undefined
  const whole = [
    ...changed({ kind: 'settings', before: settingsIn(preData), after: settingsIn(data) }),
    ...changed({ kind: 'tags', before: tagsIn(preData) ?? none, after: tagsIn(data) ?? none }),
  ]
  if (!environment) return whole
  const [before, after] = [strategiesIn(preData), strategiesIn(data)]
  const strategies = [...new Set([...before.keys(), ...after.keys()])]
    .map((id): Restorable => ({ kind: 'strategy', environment, id, before: before.get(id), after: after.get(id) }))
    .filter((one) => !same(one.before, one.after))
  return [...strategies, ...variantsIn(environment, preData?.variants, type.startsWith('feature-strategy') ? undefined : data?.variants), ...whole]
}

// What existed before and after, if it changed.
const changed = (one: Restorable): Restorable[] => (one.before && one.after && !same(one.before, one.after) ? [one] : [])

function variantsIn(environment: string, before: unknown, after: unknown): Restorable[] {
  const list = (value: unknown) => (Array.isArray(value) ? (value as Variant[]) : undefined)
  return changed({ kind: 'variants', environment, before: list(before), after: list(after) })
}

/** The settings in a state of a flag. */
export function settingsIn(state: Partial<Flag> | Event['data']): Settings | undefined {
  const { description, type, impressionData, valueType = null, defaultValue = null, valueSchema = null } = (state ?? {}) as Partial<Flag>
  if (type === undefined || impressionData === undefined) return undefined
  return { description: description ?? null, type, impressionData, valueType, defaultValue, valueSchema }
}

// The tags in a state of a flag, or the tag that an event is about.
function tagsIn(state: Event['data']): Tag[] | undefined {
  if (Array.isArray(state?.tags)) return state.tags as Tag[]
  return typeof state?.value === 'string' && typeof state.type === 'string' ? [{ type: state.type, value: state.value }] : undefined
}

// The strategies of a state by id: the state is that of one strategy, or that of a flag in an environment.
function strategiesIn(state: Event['data']): Map<string, Strategy> {
  const list = Array.isArray(state?.strategies) ? state.strategies : [state]
  return new Map((list as (Strategy | null)[]).filter((one) => typeof one?.id === 'string' && one.parameters).map((one) => [one!.id, one!]))
}

const same = (before: unknown, after: unknown) => JSON.stringify(before) === JSON.stringify(after)

/** A strategy as two versions of it are compared: what restoring changes, with the names of segments. */
export function shownStrategy({ name, title, disabled, parameters, constraints, segments, variants }: Strategy, names: ReadonlyMap<number, string>) {
  return { name, title, disabled, parameters, constraints, segments: segments.map((id) => names.get(id) ?? `segment ${id}`), variants }
}

/** The tags after restoring one version of those that an event changed: it gets that version's tags and loses those of the other. */
export function withTags(present: readonly Tag[], version: readonly Tag[], other: readonly Tag[]): Tag[] {
  return [...without(present, [...other, ...version]), ...version]
}

/** The tags of a list that the other one does not have. */
export const without = (tags: readonly Tag[], other: readonly Tag[]) =>
  tags.filter((tag) => !other.some(({ type, value }) => type === tag.type && value === tag.value))

/** The strategies in the order of a version. Those that it does not know keep their places. */
export const inOrder = (strategies: readonly Strategy[], order: Order) => {
  const place = ({ id, sortOrder }: Strategy) => order[id] ?? sortOrder
  return [...strategies].sort((a, b) => place(a) - place(b))
}
