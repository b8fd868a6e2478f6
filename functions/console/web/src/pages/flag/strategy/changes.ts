import { api, useChange } from '../../../api'
import { environmentPath, flagKey, touched, type Flag, type FlagEnvironment } from '../data'
import { copyRequest, type Strategy } from './model'

const listPath = `${environmentPath}/strategies` as const
/** The path of the API for one strategy. */
export const strategyPath = `${listPath}/{strategyId}` as const

/** The parameters of the paths for strategies of a flag in an environment. */
const at = (flag: Flag, environment: string) => ({ projectId: flag.project, featureName: flag.name, environment })

/** The flag with other strategies in an environment, for optimistic changes. */
function withStrategies(flag: Flag | undefined, environment: string, change: (strategies: Strategy[]) => Strategy[]): Flag | undefined {
  return flag && { ...flag, environments: flag.environments.map((one) => (one.name === environment ? { ...one, strategies: change(one.strategies) } : one)) }
}

/** Sets the order of the strategies, given by their ids. */
export function useReorder(flag: Flag, environment: FlagEnvironment) {
  const request = (ids: string[]) =>
    api.request.post(`${listPath}/set-sort-order`, { path: at(flag, environment.name), body: ids.map((id, index) => ({ id, sortOrder: index + 1 })) })
  return useChange({
    change: (ids: string[]) => api.send(request(ids)),
    requests: (ids) => [request(ids)],
    invalidates: touched,
    optimistic: (ids) => [
      {
        key: flagKey(flag),
        update: (old?: Flag) => withStrategies(old, environment.name, (strategies) => [...strategies].sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))),
      },
    ],
  })
}

/** Disables or enables a strategy, with Undo. */
export function useDisable(flag: Flag, environment: FlagEnvironment) {
  const send = (strategy: Strategy, disabled: boolean) =>
    api.patch(strategyPath, { path: { ...at(flag, environment.name), strategyId: strategy.id }, body: [{ op: 'replace', path: '/disabled', value: disabled }] })
  return useChange({
    change: ({ strategy, disabled }: { strategy: Strategy; disabled: boolean }) => send(strategy, disabled),
    requests: ({ strategy, disabled }) => [
      api.request.put(strategyPath, { path: { ...at(flag, environment.name), strategyId: strategy.id }, body: copyRequest({ ...strategy, disabled }) }),
    ],
    invalidates: touched,
    optimistic: ({ strategy, disabled }) => [
      {
        key: flagKey(flag),
        update: (old?: Flag) => withStrategies(old, environment.name, (all) => all.map((one) => (one.id === strategy.id ? { ...one, disabled } : one))),
      },
    ],
    success: (_, { disabled }) => `Strategy ${disabled ? 'disabled' : 'enabled'} in ${environment.name}`,
    undo: ({ strategy, disabled }) => send(strategy, !disabled),
  })
}

/** Copies a strategy to an environment, as the last one there, with Undo. */
export function useCopy(flag: Flag) {
  const request = (strategy: Strategy, to: string) => api.request.post(listPath, { path: at(flag, to), body: copyRequest(strategy) })
  return useChange({
    change: ({ strategy, to }: { strategy: Strategy; to: string }) => api.send(request(strategy, to)),
    requests: ({ strategy, to }) => [request(strategy, to)],
    invalidates: touched,
    success: (_, { to }) => `Strategy copied to ${to}`,
    undo: ({ to }, copy) => api.delete(strategyPath, { path: { ...at(flag, to), strategyId: copy.id } }),
  })
}

/** Removes a strategy. Undo adds it again at its place, and switches the flag on again if that switched it off. */
export function useRemove(flag: Flag, environment: FlagEnvironment) {
  const request = (strategy: Strategy) => api.request.delete(strategyPath, { path: { ...at(flag, environment.name), strategyId: strategy.id } })
  return useChange({
    change: (strategy: Strategy) => api.send(request(strategy)),
    requests: (strategy) => [request(strategy)],
    invalidates: touched,
    success: (_, strategy) => {
      const others = environment.strategies.some((one) => one.id !== strategy.id && !one.disabled)
      const off = environment.enabled && !others
      return `Strategy removed from ${environment.name}${off ? ', and the flag switched off: it was the last one that applied' : ''}`
    },
    undo: async (strategy) => {
      await api.post(listPath, { path: at(flag, environment.name), body: { ...copyRequest(strategy), sortOrder: strategy.sortOrder } })
      if (environment.enabled) await api.post(`${environmentPath}/on`, { path: at(flag, environment.name) })
    },
  })
}
