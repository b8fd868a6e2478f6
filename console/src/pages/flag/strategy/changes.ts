import { api, ApiError, useChange } from '../../../api'
import type { StoredChange } from '../../../requests/data'
import { useReadDrafted } from '../../../requests/drafted'
import { environmentPath, flagKey, flagPath, touched, type Flag, type FlagEnvironment } from '../data'
import { copyRequest, type Strategy } from './model'

/** The path of the API for the strategies of a flag in an environment. */
export const listPath = `${environmentPath}/strategies` as const
/** The path of the API for one strategy. */
export const strategyPath = `${listPath}/{strategyId}` as const

/** The parameters of the paths for strategies of a flag in an environment. */
const at = (flag: Pick<Flag, 'project' | 'name'>, environment: string) => ({ projectId: flag.project, featureName: flag.name, environment })

/** The flag with other strategies in an environment, for optimistic changes. */
function withStrategies(flag: Flag | undefined, environment: string, change: (strategies: Strategy[]) => Strategy[]): Flag | undefined {
  return flag && { ...flag, environments: flag.environments.map((one) => (one.name === environment ? { ...one, strategies: change(one.strategies) } : one)) }
}

/** Sets the order of the strategies, given by their ids. */
export const orderRequest = (flag: Flag, environment: string, ids: string[], ifMatch?: string | null) =>
  api.request.post(`${listPath}/set-sort-order`, { path: at(flag, environment), body: ids.map((id, index) => ({ id, sortOrder: index + 1 })), ifMatch })

/** The ids of strategies, in their order. */
export const idsOf = (strategies: readonly Strategy[]) => strategies.map(({ id }) => id)

/** Takes back a change of the order, unless the order or the strategies changed since. */
export async function undoOrder(flag: Flag, environment: string, made: string[], before: string[]) {
  const { body, etag } = await api.getVersioned(listPath, { path: at(flag, environment) })
  if (String(idsOf(body)) !== String(made)) throw changedSince('order of the strategies')
  await api.send(orderRequest(flag, environment, before, etag))
}

interface Reordered {
  ids: string[]
  before: string[]
}

/** Changes the order of the strategies, with Undo. */
export function useReorder(flag: Flag, environment: FlagEnvironment) {
  return useChange({
    change: ({ ids }: Reordered) => api.send(orderRequest(flag, environment.name, ids)),
    requests: ({ ids }) => [orderRequest(flag, environment.name, ids)],
    invalidates: touched,
    optimistic: ({ ids }) => [
      {
        key: flagKey(flag),
        update: (old?: Flag) => withStrategies(old, environment.name, (strategies) => [...strategies].sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))),
      },
    ],
    success: `${flag.name}: order of the strategies changed in ${environment.name}`,
    undo: ({ ids, before }) => undoOrder(flag, environment.name, ids, before),
  })
}

/** A flag in an environment as it is stored: the page may be seconds old, and Undo must not switch on what another person has switched off. */
export const storedIn = (flag: Pick<Flag, 'project' | 'name'>, environment: string) => api.get(environmentPath, { path: at(flag, environment) })

/** Whether the flag is switched off together with a strategy: it is on, and no other strategy applies. */
export const switchesOff = (environment: Pick<FlagEnvironment, 'enabled' | 'strategies'>, strategy: Strategy) =>
  environment.enabled && !strategy.disabled && environment.strategies.every((one) => one.id === strategy.id || one.disabled)

/** Throws if the strategies or the switch changed since a question about them was asked. */
export async function expectAsked(flag: Flag, asked: FlagEnvironment) {
  const { environments } = await api.get(flagPath, { path: { projectId: flag.project, featureName: flag.name } })
  const now = environments.find(({ name }) => name === asked.name)
  if (now?.enabled !== asked.enabled || JSON.stringify(now.strategies) !== JSON.stringify(asked.strategies))
    throw new Error(`Meanwhile ${flag.name} has changed in ${asked.name}. Nothing was changed: close this, and look at it again.`)
}

/** The end of a message about such a change. */
export const switchedOff = ', and the flag switched off: it was the last one that applied'

/** Why something is not undone: it was changed since. */
export const changedSince = (what: string) => new ApiError(412, 'PreconditionFailed', `The ${what} changed since. Nothing was undone.`, [])

interface Undone {
  flag: Pick<Flag, 'project' | 'name'>
  environment: string
  /** What the change made. Undo does nothing if it was changed since. */
  made: Strategy
  /** What the strategy was before; null if the change added it. */
  before: Strategy | null
  /** The change has switched the flag off. */
  off?: boolean
}

// Undo of what has switched a flag off switches it on, but not with what applies there since.
async function expectOff(flag: Pick<Flag, 'project' | 'name'>, environment: string, id: string) {
  const { enabled, strategies } = await storedIn(flag, environment)
  if (enabled || strategies.some((one) => one.id !== id && !one.disabled)) throw changedSince('flag')
}

/** Takes back a change of a strategy. */
export async function undoStrategy({ flag, environment, made, before, off }: Undone) {
  const path = { projectId: flag.project, featureName: flag.name, environment, strategyId: made.id }
  const { body, etag } = await api.getVersioned(strategyPath, { path })
  if (JSON.stringify(body) !== JSON.stringify(made)) throw changedSince('strategy')
  if (off) await expectOff(flag, environment, made.id)
  if (before) await api.put(strategyPath, { path, body: copyRequest(before), ifMatch: etag })
  else await api.delete(strategyPath, { path, ifMatch: etag })
  if (off) await api.post(`${environmentPath}/on`, { path })
}

/** What a draft proposes for a strategy. */
export const proposedOf = (drafted: readonly StoredChange[], id: string) =>
  drafted.findLast(({ action, payload }) => action === 'updateStrategy' && (payload as Strategy).id === id)?.payload as Strategy | undefined

/** Disables or enables a strategy. Undo switches the flag on again if that switched it off. */
export function useDisable(flag: Flag, environment: FlagEnvironment) {
  const readDrafted = useReadDrafted(flag, environment.name)
  return useChange({
    change: async ({ strategy, disabled }: { strategy: Strategy; disabled: boolean }) => {
      const now = await storedIn(flag, environment.name)
      const before = now.strategies.find(({ id }) => id === strategy.id) ?? strategy
      const path = { ...at(flag, environment.name), strategyId: strategy.id }
      const made = await api.patch(strategyPath, { path, body: [{ op: 'replace', path: '/disabled', value: disabled }] })
      return { made, before, off: disabled && switchesOff(now, before) }
    },
    requests: async ({ strategy, disabled }) => {
      const body = copyRequest({ ...strategy, ...proposedOf(await readDrafted(), strategy.id), disabled })
      return [api.request.put(strategyPath, { path: { ...at(flag, environment.name), strategyId: strategy.id }, body })]
    },
    invalidates: touched,
    optimistic: ({ strategy, disabled }) => [
      {
        key: flagKey(flag),
        update: (old?: Flag) => withStrategies(old, environment.name, (all) => all.map((one) => (one.id === strategy.id ? { ...one, disabled } : one))),
      },
    ],
    success: ({ off }, { disabled }) => `${flag.name}: strategy ${disabled ? 'disabled' : 'enabled'} in ${environment.name}${off ? switchedOff : ''}`,
    undo: (_, done) => undoStrategy({ flag, environment: environment.name, ...done }),
  })
}

/** Copies a strategy to an environment, as the last one there, with Undo. */
export function useCopy(flag: Flag) {
  const request = (strategy: Strategy, to: string) => api.request.post(listPath, { path: at(flag, to), body: copyRequest(strategy) })
  return useChange({
    change: ({ strategy, to }: { strategy: Strategy; to: string }) => api.send(request(strategy, to)),
    requests: ({ strategy, to }) => [request(strategy, to)],
    invalidates: touched,
    success: (_, { to }) => `${flag.name}: strategy copied to ${to}`,
    undo: ({ to }, made) => undoStrategy({ flag, environment: to, made, before: null }),
  })
}

/** Removes a strategy. Undo adds it again at its place, and switches the flag on again if that switched it off. */
export function useRemove(flag: Flag, environment: FlagEnvironment) {
  const request = (strategy: Strategy) => api.request.delete(strategyPath, { path: { ...at(flag, environment.name), strategyId: strategy.id } })
  return useChange({
    change: async (strategy: Strategy) => {
      const now = await storedIn(flag, environment.name)
      const before = now.strategies.find(({ id }) => id === strategy.id) ?? strategy
      await api.send(request(strategy))
      return { before, off: switchesOff(now, before) }
    },
    requests: (strategy) => [request(strategy)],
    invalidates: touched,
    success: ({ off }) => `${flag.name}: strategy removed from ${environment.name}${off ? switchedOff : ''}`,
    undo: async (_, { before, off }) => {
      if (off) await expectOff(flag, environment.name, before.id)
      await api.post(listPath, { path: at(flag, environment.name), body: { ...copyRequest(before), sortOrder: before.sortOrder } })
      if (off) await api.post(`${environmentPath}/on`, { path: at(flag, environment.name) })
    },
  })
}
