// What is special about environments of type production: they are marked, and a change there asks first.
import { useState, type ReactNode } from 'react'
import { Badge } from './bits'
import { ConfirmDialog } from './dialog'
import type { Choice } from './field'
import { listed } from './format'
import { useStoredNames } from './stored'
import { toast } from './toasts'

interface Environment {
  name: string
  type: string
}

/** Whether an environment is for production. A type is any word, so Production is one, too. */
export const isProduction = ({ type }: Pick<Environment, 'type'>) => type.toLowerCase() === 'production'

/** The mark of a production environment, beside its name. */
export function ProductionMark({ type }: Pick<Environment, 'type'>) {
  if (!isProduction({ type })) return null
  return (
    <span title="An environment of type production" className="production-mark">
      <Badge kind="accent">Prod</Badge>
    </span>
  )
}

const saysSo = ({ name }: Pick<Environment, 'name'>) => name.toLowerCase() === 'production'

/** The mark of a production environment whose name does not say so. */
export const UnnamedProduction = (environment: Environment) => !saysSo(environment) && <ProductionMark type={environment.type} />

/** What a question adds about an environment of type production, with a space before it; '' for others and for one whose name says so. */
export const productionText = (environment: Pick<Environment, 'name' | 'type'>) =>
  isProduction(environment) && !saysSo(environment) ? ` ${environment.name} is a production environment.` : ''

/** The names of the environments of type production that do not ask, in this browser. */
export const useUnasked = () => useStoredNames('guidon-unasked')

/** An environment as one of several choices. */
export const environmentChoice = (environment: Environment): Choice => ({
  value: environment.name,
  label: environment.name,
  production: isProduction(environment),
})

interface Asked {
  environment: Environment
  /** Other production environments that the change concerns. */
  others?: readonly Environment[]
  title: string
  /** The verb of the button. */
  action: string
  danger?: boolean
  /** Throws if the question is not true any more. */
  check?: () => Promise<void>
  act: () => void
  /** Nothing changes now: the change is added to a draft. */
  drafted?: boolean
  /** Shown in the dialog. */
  details?: ReactNode
}

/** Whether changes in an environment ask first, in this browser. */
export function useAsks() {
  const [unasked] = useUnasked()
  return (environment: Environment) => isProduction(environment) && !unasked.has(environment.name)
}

/** What every question about production environments says: which of them are that, unless their names do, and when applications follow. */
export function followsAtOnce(...all: Environment[]) {
  const names = all.filter((one) => isProduction(one) && !saysSo(one)).map(({ name }) => name)
  const are = names.length > 0 && `${listed(names)} ${names.length > 1 ? 'are production environments' : 'is a production environment'}. `
  return `${are || ''}Applications follow with their next request.`
}

/** Acts at once, or asks before if the environment is for production. Render the dialog. */
export function useAsked(): [(asked: Asked) => void, ReactNode] {
  const [asked, setAsked] = useState<Asked>()
  const asks = useAsks()
  return [
    (next) => (!next.drafted && asks(next.environment) ? setAsked(next) : next.act()),
    asked && (
      <ConfirmDialog
        open
        onClose={() => setAsked(undefined)}
        danger={Boolean(asked.danger)}
        title={asked.title}
        description={followsAtOnce(asked.environment, ...(asked.others ?? []))}
        action={asked.action}
        onConfirm={async () => {
          await asked.check?.()
          asked.act()
        }}
      >
        {asked.details}
      </ConfirmDialog>
    ),
  ]
}

interface AskedSwitch extends Pick<Asked, 'environment' | 'check' | 'act' | 'drafted' | 'details'> {
  /** What is switched: the name of a flag, or '12 flags'. */
  what: string
  on: boolean
  /** What a freeze means for it: the caller may skip it, or is told why nothing changes instead of being asked. */
  freeze?: { text: string; skips: boolean }
}

/** Switches at once, or asks before if the environment is for production. Render the dialog. */
export function useAskedSwitch(): [(asked: AskedSwitch) => void, ReactNode] {
  const [ask, question] = useAsked()
  return [
    ({ what, on, freeze, details, ...rest }) => {
      const action = `Switch ${on ? 'on' : 'off'}`
      if (freeze && !freeze.skips) return toast.error(freeze.text)
      const more = (
        <>
          {freeze && <p className="strong">{freeze.text}</p>}
          {details}
        </>
      )
      ask({ ...rest, danger: !on, title: `Switch ${what} ${on ? 'on' : 'off'} in ${rest.environment.name}?`, action, details: more })
    },
    question,
  ]
}
