import { useSyncExternalStore } from 'react'

/** The theme that a person has chosen. */
export type Theme = 'system' | 'light' | 'dark'

const key = 'guidon-theme'
const listeners = new Set<() => void>()

function read(): Theme {
  const theme = document.documentElement.dataset.theme
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

/** Sets the theme and keeps it in this browser. theme-boot.js applies it at the next start. */
export function setTheme(theme: Theme) {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
  try {
    if (theme === 'system') localStorage.removeItem(key)
    else localStorage.setItem(key, theme)
  } catch {
    // Storage is blocked: the theme lasts until the page is closed.
  }
  listeners.forEach((listener) => listener())
}

/** The chosen theme. */
export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, read)
}
