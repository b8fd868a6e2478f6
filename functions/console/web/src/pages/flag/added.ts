// Undo of a switch that has added the project's default strategy.
import { api, isForbidden } from '../../api'
import { environmentPath } from './data'
import type { Strategy } from './strategy/model'

interface Place {
  projectId: string
  featureName: string
  environment: string
}

const listPath = `${environmentPath}/strategies` as const

/** Reads what switching on has added to a flag without strategies. Only Undo uses it: an error is no reason to say that the switch failed. */
export const readAdded = (path: Place): Promise<Strategy[] | undefined> => api.get(listPath, { path }).catch(() => undefined)

/** Removes the added strategy, unless it or the list changed since, or the caller may not: then the flag is off, and keeps it. */
export async function removeAdded(path: Place, added: Strategy[] | undefined) {
  if (added?.length !== 1) return
  const now = await api.get(listPath, { path })
  if (JSON.stringify(now) !== JSON.stringify(added)) return
  try {
    await api.delete(`${listPath}/{strategyId}`, { path: { ...path, strategyId: added[0]!.id } })
  } catch (error) {
    if (!isForbidden(error)) throw error
  }
}
