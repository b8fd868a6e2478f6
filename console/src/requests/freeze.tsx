import { useMe } from '../api'
import { permissionText } from '../api/permissions'
import { fullDate } from '../ui/dates'
import { useProtection, useProtections } from './drafts'

/** What a freeze means for a switch: a sentence, and whether the caller may switch nevertheless. */
export function useFreeze(project: string) {
  const freezeOf = useFreezes([project])
  return (environment: string, on: boolean) => freezeOf(project, environment, on)
}

/** The same for several projects. */
export function useFreezes(projects: readonly string[]) {
  const protectionOf = useProtections(projects)
  const { can } = useMe()
  return (project: string, environment: string, on: boolean): { text: string; skips: boolean } | undefined => {
    const { frozen, drafts } = protectionOf(project)
    const found = frozen.find((one) => one.environment === environment && (on || !one.offAllowed) && new Date(one.until) > new Date())
    if (!found || drafts(environment, { off: !on })) return undefined
    const skips = can('SKIP_CHANGE_FREEZE', project, environment).allowed
    const who = skips ? 'You skip the freeze, and the log says so.' : `Only people with the permission ${permissionText('SKIP_CHANGE_FREEZE')} can skip that.`
    return { text: `${environment} is frozen until ${fullDate(new Date(found.until))}: ${found.reason.replace(/\.$/, '')}. ${who}`, skips }
  }
}

interface SkipsFreezeProps {
  project: string
  environment: string
  /** Names the project, where the question does not. */
  named?: boolean
}

/** Says in a question that the caller skips a freeze with the change. Others read nothing: the server refuses what they cannot change. */
export function SkipsFreeze({ project, environment, named }: SkipsFreezeProps) {
  const freeze = useFreeze(project)(environment, true)
  if (!freeze?.skips) return null
  return (
    <p className="strong break">
      {named && `Project ${project}: `}
      {freeze.text}
    </p>
  )
}

interface SkipsFreezesProps {
  project: string
  flags: readonly { environments: readonly { name: string; enabled: boolean }[] }[]
  named?: boolean
}

/** The same for a change of flags as a whole: it concerns the environments in which one of them is on. */
export function SkipsFreezes({ project, flags, named }: SkipsFreezesProps) {
  return useProtection(project)
    .frozen.filter(({ environment }) => flags.some((flag) => flag.environments.some((one) => one.enabled && one.name === environment)))
    .map(({ environment }) => <SkipsFreeze key={environment} project={project} environment={environment} named={named} />)
}
