// Changes of a flag that applications follow at once: in a production environment where the flag is on they ask first, or their form says so.
import type { ReactNode } from 'react'
import { useProtection } from '../../requests/drafts'
import { SkipsFreeze } from '../../requests/freeze'
import { followsAtOnce, useAsked, useAsks } from '../../ui'
import type { Flag, FlagEnvironment } from './data'
import { childrenText } from './strategy/describe'

interface AskedChange {
  /** The change, up to the name of the flag: 'Disable the strategy'. */
  what: string
  /** The verb of the button. */
  action: string
  danger?: boolean
  details?: ReactNode
  /** Throws if the question is not true any more. */
  check?: () => Promise<void>
  act: () => void
}

/** Makes a change of the flag in an environment, and asks before where that is due. Render the dialog. */
export function useAskedChange(flag: Flag): [(environment: FlagEnvironment, change: AskedChange) => void, ReactNode] {
  const protection = useProtection(flag.project)
  const [ask, question] = useAsked()
  return [
    (environment, { what, details, ...change }) => {
      if (!environment.enabled) return change.act()
      const more = (
        <>
          {details}
          <SkipsFreeze project={flag.project} environment={environment.name} />
        </>
      )
      const title = `${what} of ${flag.name} in ${environment.name}?`
      ask({ ...change, environment, title, details: more, drafted: protection.drafts(environment.name) })
    },
    question,
  ]
}

interface Difference {
  /** What is stored and what the form has, in words. */
  before?: string
  after?: string
  /** What they leave out, a sentence each. */
  differences?: readonly string[]
  /** More people get the flag: the line is amber. */
  widens?: boolean
  narrows?: boolean
  children?: ReactNode
}

/**
 * For a form of the flag in an environment: what its button says, and the line before it. Where saving is followed at once in production, the
 * button names the environment, and the line says what changes there.
 */
export function useAtOnce(flag: Flag, environment: FlagEnvironment, on = environment.enabled) {
  const protection = useProtection(flag.project)
  const atOnce = useAsks()(environment) && on && !protection.drafts(environment.name)
  return {
    label: (submit: string) => (atOnce ? `${submit} in ${environment.name}` : protection.label(submit, environment.name)),
    line: ({ before = '', after, differences = [], widens, narrows, children }: Difference) =>
      atOnce && (
        <div className={widens ? 'at-once at-once-widens' : 'at-once'}>
          {after && <p className="strong break at-once-text">{before && before !== after ? `${before} → ${after}` : after}</p>}
          {differences.map((one) => (
            <p key={one} className="break">
              {one}
            </p>
          ))}
          {children}
          <p className="soft">
            {widens ? 'More users get it. ' : narrows && 'Fewer users get it. '}
            {followsAtOnce(environment)}
          </p>
          <SkipsFreeze project={flag.project} environment={environment.name} />
        </div>
      ),
  }
}

/** Says that a change of a strategy switches the flag off. */
export const GoesOff = ({ flag }: { flag: Flag }) => (
  <>
    <p className="strong">No other strategy applies here, so the flag is switched off, too.</p>
    {flag.children.length > 0 && <p className="break">{childrenText(flag.children)}</p>}
  </>
)
