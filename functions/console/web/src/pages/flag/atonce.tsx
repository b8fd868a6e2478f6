// Changes of a flag that applications follow at once: in a production environment where the flag is on they ask first.
import type { ReactNode } from 'react'
import { useProtection } from '../../requests/drafts'
import { useAsked } from '../../ui'
import type { Flag, FlagEnvironment } from './data'

interface AskedChange {
  /** The change, up to the name of the flag: 'Disable the strategy'. */
  what: string
  /** The verb of the button. */
  action: string
  danger?: boolean
  details?: ReactNode
  act: () => void
}

/** Makes a change of the flag in an environment, and asks before where that is due. Render the dialog. */
export function useAskedChange(flag: Flag): [(environment: FlagEnvironment, change: AskedChange) => void, ReactNode] {
  const protection = useProtection(flag.project)
  const [ask, question] = useAsked()
  return [
    (environment, { what, ...change }) => {
      if (!environment.enabled) change.act()
      else ask({ ...change, environment, title: `${what} of ${flag.name} in ${environment.name}?`, drafted: protection.drafts(environment.name) })
    },
    question,
  ]
}
