import { useRouter, useRouterState } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'

type Value = string | number | boolean

// Without it TypeScript takes the default false as the only value.
type Widened<State> = { [Name in keyof State]: State[Name] extends boolean ? boolean : State[Name] }

/**
 * State of a page in its address, so that a link shows the same view: filters, sorting, the page of a list.
 * Values take the type of their defaults, and defaults are left out of the address.
 *
 *   const [view, setView] = useUrlState({ q: '', offset: 0, stale: false })
 *   setView({ q: 'check', offset: 0 })
 */
export function useUrlState<State extends Record<string, Value>>(
  defaults: State,
): [Widened<State>, (change: Partial<Widened<State>>, options?: { push?: boolean }) => void] {
  const router = useRouter()
  const search = useRouterState({ select: (state) => state.location.search }) as Record<string, unknown>
  const names = JSON.stringify(defaults)
  const state = useMemo(() => {
    const initial = JSON.parse(names) as State
    return Object.fromEntries(Object.entries(initial).map(([name, value]) => [name, parse(search[name], value)])) as Widened<State>
  }, [search, names])
  const set = useCallback(
    (change: Partial<Widened<State>>, options?: { push?: boolean }) => {
      const initial = JSON.parse(names) as State
      // A change that is still being made counts: otherwise the second of two at once would take the first one back.
      const search = (present: object) => {
        const next: Record<string, unknown> = { ...present }
        for (const [name, value] of Object.entries(change)) {
          if (value === undefined || value === initial[name]) delete next[name]
          else next[name] = value
        }
        return next
      }
      void router.navigate({ to: '.', search: search as never, replace: !options?.push, resetScroll: false })
    },
    [router, names],
  )
  return [state, set]
}

function parse(found: unknown, initial: Value): Value {
  if (found === undefined || found === null) return initial
  if (typeof initial === 'number') return Number.isFinite(Number(found)) ? Number(found) : initial
  if (typeof initial === 'boolean') return found === true || found === 'true'
  return typeof found === 'object' ? initial : String(found)
}
