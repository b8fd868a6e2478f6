import { useSyncExternalStore } from 'react'

let reachable = true
const listeners = new Set<() => void>()

/** Notes whether the server responded to the last request. */
export function setReachable(next: boolean) {
  if (next === reachable) return
  reachable = next
  listeners.forEach((listener) => listener())
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  window.addEventListener('online', listener)
  window.addEventListener('offline', listener)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('online', listener)
    window.removeEventListener('offline', listener)
  }
}

/** Whether the server can be reached. */
export function useReachable(): boolean {
  return useSyncExternalStore(subscribe, () => reachable && navigator.onLine)
}
