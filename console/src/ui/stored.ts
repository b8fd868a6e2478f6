import { useMemo, useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
// What could not be stored because storage is blocked: it lasts until the page is closed.
const unstored = new Map<string, string>()

/** What is kept in this browser under a key, null if nothing is. */
export function readStored(key: string): string | null {
  try {
    return unstored.get(key) ?? localStorage.getItem(key)
  } catch {
    return null
  }
}

/** Keeps a text in this browser, for all tabs. */
export function writeStored(key: string, text: string) {
  try {
    localStorage.setItem(key, text)
    unstored.delete(key)
  } catch {
    unstored.set(key, text)
  }
  listeners.forEach((listener) => listener())
}

/** Calls back when something that is kept has changed, in this tab or in another. */
export function subscribeStored(listener: () => void) {
  listeners.add(listener)
  window.addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('storage', listener)
  }
}

/** A set of names that is kept in this browser, for all tabs, and a function that adds or removes one. */
export function useStoredNames(key: string): [ReadonlySet<string>, (name: string, on: boolean) => void] {
  const text = useSyncExternalStore(subscribeStored, () => readStored(key))
  const names = useMemo(() => new Set(parse(text)), [text])
  return [
    names,
    (name, on) => {
      const others = parse(readStored(key)).filter((one) => one !== name)
      writeStored(key, JSON.stringify(on ? [...others, name] : others))
    },
  ]
}

function parse(text: string | null): string[] {
  try {
    const found: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(found) ? found.map(String) : []
  } catch {
    return []
  }
}
