// Undo of switches, which may have added the project's default strategy.
import { api, isForbidden } from '../../api'
import { plural } from '../../ui'
import { expectAll, oneByOne } from '../flags/bulk'
import { environmentPath } from './data'
import type { Strategy } from './strategy/model'

interface Place {
  projectId: string
  environment: string
}

/** The strategies that a switch has added, by the names of the flags. */
export type Added = ReadonlyMap<string, Strategy[]>

const listPath = `${environmentPath}/strategies` as const

// Only Undo uses what is read: an error is no reason to say that a switch failed.
async function strategiesOf(place: Place, names: readonly string[]) {
  const found = new Map<string, Strategy[]>()
  await oneByOne(names, async (featureName) => found.set(featureName, await api.get(listPath, { path: { ...place, featureName } })))
  return found
}

/** Calls a switch of flags that seem to have no strategies, and reads what it has added to those that have none. */
export async function switchAdding<T>(place: Place, names: readonly string[], send: () => Promise<T>): Promise<{ added: Added; result: T }> {
  const before = await strategiesOf(place, names)
  const result = await send()
  const bare = names.filter((name) => before.get(name)?.length === 0)
  return { added: await strategiesOf(place, bare), result }
}

/** What a switch has done to one flag. */
export interface Switched {
  /** Whether the flag was already as the switch makes it: the page may be seconds old, and Undo must not take back what another person did. */
  already: boolean
  /** The strategies that selected whom it is about: Undo must not switch on others. */
  strategies: Strategy[]
  added: Added
}

/** Switches a flag, and says what Undo needs. adds is set if the flag seems to have no strategies. */
export async function switchOne(
  path: Place & { featureName: string },
  { on, adds }: { on: boolean; adds?: boolean },
  send: () => Promise<unknown>,
): Promise<Switched> {
  const { enabled, strategies } = await api.get(environmentPath, { path })
  const { added } = await switchAdding(path, adds ? [path.featureName] : [], send)
  return { already: enabled === on, strategies: added.get(path.featureName) ?? strategies, added }
}

/** Takes a switch of a flag back, with a request that switches it back. */
export async function undoOne(path: Place & { featureName: string }, on: boolean, { already, strategies, added }: Switched, back: () => Promise<unknown>) {
  if (already) throw new Error(`Before that, ${path.featureName} was already ${on ? 'on' : 'off'} in ${path.environment}. Nothing was changed.`)
  if (!on && JSON.stringify(await api.get(listPath, { path })) !== JSON.stringify(strategies)) throw changed(path)
  await back()
  await removeAdded(path, added)
}

/** Throws if a flag has strategies by now, so that it would not be on as a question about its first strategy says. */
export async function expectNone(path: Place & { featureName: string }) {
  const { length } = await api.get(listPath, { path })
  if (length > 0)
    throw new Error(
      `Meanwhile ${path.featureName} got ${plural(length, 'strategy', 'strategies')} in ${path.environment}. Nothing was changed: look at the flag first.`,
    )
}

const changed = ({ featureName, environment }: Place & { featureName: string }) =>
  new Error(`Meanwhile the strategies of ${featureName} in ${environment} have changed. Nothing was undone.`)

/** Takes back a first strategy with which a flag was switched on, unless it changed since: the flag is off, also if it has got others since. */
export async function removeFirst(path: Place & { featureName: string }, strategy: Strategy) {
  const now = (await api.get(listPath, { path })).find(({ id }) => id === strategy.id)
  if (JSON.stringify(now) !== JSON.stringify(strategy)) throw changed(path)
  await api.post(`${environmentPath}/off`, { path })
  await api.delete(`${listPath}/{strategyId}`, { path: { ...path, strategyId: strategy.id } })
}

/** Removes the added strategy of flags, unless it or the list changed since, or the caller may not: then the flag is off, and keeps it. */
export async function removeAdded(place: Place, added: Added) {
  const remove = async (featureName: string) => {
    const path = { ...place, featureName }
    const mine = added.get(featureName)!
    if (mine.length !== 1 || JSON.stringify(await api.get(listPath, { path })) !== JSON.stringify(mine)) return
    try {
      await api.delete(`${listPath}/{strategyId}`, { path: { ...path, strategyId: mine[0]!.id } })
    } catch (error) {
      if (!isForbidden(error)) throw error
    }
  }
  expectAll(await oneByOne([...added.keys()], remove))
}
