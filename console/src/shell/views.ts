// Named views of a list: its filters, kept in this browser.
import { useMemo, useSyncExternalStore } from 'react'
import { useMe } from '../api'
import { readStored, subscribeStored, writeStored } from '../ui/stored'

export type ViewState = Record<string, string | number | boolean>

export interface SavedView {
  name: string
  state: ViewState
}

export const maxViews = 20
export const maxViewName = 50
// Filters are shorter: the address of a page has them too.
const maxState = 4000

/** The views as they are stored; what is not one is left out. */
export function parseViews(text: string | null): SavedView[] {
  try {
    const found: unknown = JSON.parse(text ?? '[]')
    return (Array.isArray(found) ? (found as SavedView[]) : [])
      .filter((view) => typeof view?.name === 'string' && typeof view.state === 'object' && view.state !== null)
      .slice(0, maxViews)
  } catch {
    return []
  }
}

/** The views with one more, or with another one of that name. */
export function withView(views: readonly SavedView[], view: SavedView): SavedView[] {
  return [...views.filter((one) => one.name !== view.name), view].sort((a, b) => a.name.localeCompare(b.name))
}

/** Why a view cannot be saved under this name, as a sentence; '' if it can. */
export function viewProblem(views: readonly SavedView[], { name, state }: SavedView): string {
  if (!name) return 'Give the view a name.'
  if (name.length > maxViewName) return `A name has at most ${maxViewName} characters.`
  if (JSON.stringify(state).length > maxState) return 'These filters are too long to be kept. Shorten the texts.'
  if (views.length >= maxViews && !views.some((one) => one.name === name)) return `At most ${maxViews} views can be kept. Delete one first.`
  return ''
}

/** The views of a list, of the signed-in user. The storage of a browser belongs to one service. */
export function useViews(list: string): [SavedView[], (views: SavedView[]) => void] {
  const key = `guidon-views-${list}-${useMe().user?.id ?? 0}`
  const text = useSyncExternalStore(subscribeStored, () => readStored(key))
  return [useMemo(() => parseViews(text), [text]), (views) => writeStored(key, JSON.stringify(views))]
}
