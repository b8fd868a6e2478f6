import type { Schema } from '../../api'
import type { Sort } from '../../ui'

export type Project = Schema<'ProjectRow'>

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

// What the columns sort by; any other is the name.
const compare: Record<string, (a: Project, b: Project) => number> = {
  health: (a, b) => a.health - b.health,
  flags: (a, b) => a.featureCount - b.featureCount,
  members: (a, b) => a.memberCount - b.memberCount,
}

/** The projects whose name, id or description contains the text, favorites first. */
export function findProjects(projects: readonly Project[], text: string, { by, descending }: Sort): Project[] {
  const wanted = text.trim().toLowerCase()
  const factor = descending ? -1 : 1
  const byName = (a: Project, b: Project) => collator.compare(a.name, b.name)
  const order = compare[by]
  return projects
    .filter((project) => [project.name, project.id, project.description ?? ''].some((value) => value.toLowerCase().includes(wanted)))
    .sort((a, b) => Number(b.favorite) - Number(a.favorite) || factor * (order?.(a, b) ?? byName(a, b)) || byName(a, b))
}

/** The colour of a health in percent. */
export function healthKind(health: number): 'ok' | 'warn' | 'danger' {
  if (health >= 80) return 'ok'
  return health >= 50 ? 'warn' : 'danger'
}

/** The modes of a project: who can propose change requests. Everything else depends on roles. */
export const modes = [
  { value: 'open', label: 'Open', hint: 'Everyone can propose change requests.' },
  { value: 'protected', label: 'Protected', hint: 'Only members and administrators can.' },
] as const

// The API takes this mode, as Unleash does. The console does not offer it, because the name promises to hide the project.
const privateMode = {
  value: 'private',
  label: 'Private',
  hint: 'Set by the API. Like protected: everyone who can sign in can still read the project.',
} as const

/** The modes to choose from for a project that has this one. */
export const modesFor = (current: string) => (current === privateMode.value ? [...modes, privateMode] : modes)

export type Mode = (typeof modes)[number]['value'] | (typeof privateMode)['value']

/** The archived flags whose name or description contains the text. */
export function findArchived<Flag extends { name: string; description?: string | null }>(flags: readonly Flag[], text: string): Flag[] {
  const wanted = text.trim().toLowerCase()
  return flags.filter((flag) => flag.name.toLowerCase().includes(wanted) || (flag.description ?? '').toLowerCase().includes(wanted))
}
