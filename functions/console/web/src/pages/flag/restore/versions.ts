// Which versions of a flag's strategies and variants its history holds.
import type { Schema } from '../../../api'
import type { Strategy } from '../strategy/model'
import type { Variant } from '../variants/model'

/** What an event has of one strategy, or of the variants of one environment: the versions before and after it. */
export type Restorable = { environment: string } & (({ kind: 'strategy'; id: string } & Versions<Strategy>) | ({ kind: 'variants' } & Versions<Variant[]>))

interface Versions<State> {
  /** Absent if it did not exist. */
  before?: State
  after?: State
}

type Event = Pick<Schema<'LoggedEvent'>, 'type' | 'environment' | 'data' | 'preData'>

/** Everything of an event that can be restored: only what the event has completely. */
export function restorableOf({ type, environment, data, preData }: Event): Restorable[] {
  // An entry for each environment.
  if (type === 'feature-environment-variants-updated' || type === 'feature-variants-updated')
    return Object.keys({ ...preData, ...data }).flatMap((name) => variantsIn(name, preData?.[name], data?.[name]))
  if (!environment) return []
  const [before, after] = [strategiesIn(preData), strategiesIn(data)]
  const strategies = [...new Set([...before.keys(), ...after.keys()])]
    .map((id): Restorable => ({ kind: 'strategy', environment, id, before: before.get(id), after: after.get(id) }))
    .filter((one) => !same(one.before, one.after))
  return [...strategies, ...variantsIn(environment, preData?.variants, type.startsWith('feature-strategy') ? undefined : data?.variants)]
}

function variantsIn(environment: string, before: unknown, after: unknown): Restorable[] {
  if (!Array.isArray(before) || !Array.isArray(after) || same(before, after)) return []
  return [{ kind: 'variants', environment, before: before as Variant[], after: after as Variant[] }]
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
