// What is special about environments of type production: they are marked, and a switch there asks first.
import { useState, type ReactNode } from 'react'
import { Badge } from './bits'
import { ConfirmDialog } from './dialog'
import { useStoredNames } from './stored'

interface Environment {
  name: string
  type: string
}

/** Whether an environment is for production. */
export const isProduction = ({ type }: Pick<Environment, 'type'>) => type === 'production'

/** The mark of a production environment, beside its name. */
export function ProductionMark({ type }: Pick<Environment, 'type'>) {
  if (!isProduction({ type })) return null
  return (
    <span title="An environment of type production" className="production-mark">
      <Badge kind="accent">Prod</Badge>
    </span>
  )
}

/** The names of the environments of type production whose switches do not ask, in this browser. */
export const useUnasked = () => useStoredNames('guidon-unasked')

interface Asked {
  /** What is switched: the name of a flag, or '12 flags'. */
  what: string
  environment: Environment
  on: boolean
  act: () => void
  /** Nothing is switched now: the change is added to a draft. */
  drafted?: boolean
  /** Shown in the dialog. */
  details?: ReactNode
}

/** Switches at once, or asks before if the environment is for production. Render the dialog. */
export function useAskedSwitch(): [(asked: Asked) => void, ReactNode] {
  const [asked, setAsked] = useState<Asked>()
  const [unasked] = useUnasked()
  const start = (next: Asked) => (!next.drafted && isProduction(next.environment) && !unasked.has(next.environment.name) ? setAsked(next) : next.act())
  return [
    start,
    asked && (
      <ConfirmDialog
        open
        onClose={() => setAsked(undefined)}
        danger={!asked.on}
        title={`Switch ${asked.what} ${asked.on ? 'on' : 'off'} in ${asked.environment.name}?`}
        description={`${asked.environment.name} is a production environment. Applications follow with their next request.`}
        action={`Switch ${asked.on ? 'on' : 'off'}`}
        onConfirm={async () => asked.act()}
      >
        {asked.details}
      </ConfirmDialog>
    ),
  ]
}
