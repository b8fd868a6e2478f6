// The flags of a project as the list shows them: filters, sorting and changes of the cached list, without React.
import type { Schema } from '../../api'
import { percent, words, type Sort } from '../../ui'
import { lifecycleText } from '../flag/lifecycle'

/** A flag as every list has it. */
export type ListedRow = Schema<'ListedFeature'>

/** A flag of a list, with its project. */
export type FlagRow = ListedRow & { project: string }

/** The filters of the list, as they are in the address. An empty text is no filter. */
export interface FlagFilter {
  /** Part of the name, the description or a tag. */
  q: string
  type: string
  /** 'active' or 'stale'. */
  state: string
  lifecycle: string
  /** type:value. */
  tag: string
  /** environment:on or environment:off. */
  status: string
  /** 'true' or ''. */
  favorites: string
}

/** No filter. */
export const noFilter: FlagFilter = { q: '', type: '', state: '', lifecycle: '', tag: '', status: '', favorites: '' }

/** Whether any filter is set. */
export function isFiltered(filter: FlagFilter): boolean {
  return Object.entries(noFilter).some(([name, value]) => filter[name as keyof FlagFilter] !== value)
}

/** The flags that match all filters. */
export function filterFlags(rows: readonly FlagRow[], filter: FlagFilter): readonly FlagRow[] {
  if (!isFiltered(filter)) return rows
  const text = filter.q.trim().toLowerCase()
  const at = filter.status.lastIndexOf(':')
  const environment = filter.status.slice(0, at)
  const on = filter.status.slice(at + 1) === 'on'
  return rows.filter(
    (row) =>
      (!filter.type || row.type === filter.type) &&
      (!filter.state || row.stale === (filter.state === 'stale')) &&
      (!filter.lifecycle || row.lifecycle.stage === filter.lifecycle) &&
      (!filter.favorites || row.favorite) &&
      (!filter.tag || Boolean(row.tags?.some((tag) => tagText(tag) === filter.tag))) &&
      (at < 0 || isOn(row, environment) === on) &&
      (!text || matchesText(row, text)),
  )
}

function matchesText(row: FlagRow, text: string): boolean {
  return (
    row.name.toLowerCase().includes(text) ||
    Boolean(row.description?.toLowerCase().includes(text)) ||
    Boolean(row.tags?.some((tag) => tagText(tag).toLowerCase().includes(text)))
  )
}

/** A tag as text: type:value. */
export const tagText = (tag: Schema<'Tag'>) => `${tag.type}:${tag.value}`

/** Reads type:value; undefined if a part is missing. */
export function parseTag(text: string): Schema<'Tag'> | undefined {
  const at = text.indexOf(':')
  const tag = { type: text.slice(0, at).trim(), value: text.slice(at + 1).trim() }
  return at > 0 && tag.value ? tag : undefined
}

/** Whether a flag is on in an environment. */
export function isOn(row: ListedRow, environment: string): boolean {
  return row.environments.some((one) => one.name === environment && one.enabled)
}

/** Whether a flag has a strategy in an environment. */
export function hasStrategies(row: FlagRow, environment: string): boolean {
  return row.environments.some((one) => one.name === environment && one.hasStrategies)
}

/** How many users get a flag that is on: '25%', 'some'; '' if everyone does. more: others get it by constraints, segments or a list. */
export function shareText({ rollout, targeted = false }: Pick<FlagRow['environments'][number], 'rollout' | 'targeted'>): { text: string; more: boolean } {
  if (rollout === undefined) return { text: '', more: false }
  return rollout === 0 && targeted ? { text: 'some', more: false } : { text: percent(rollout), more: targeted }
}

/** When usage was last reported in any environment. */
export function lastSeen(row: FlagRow): string {
  return row.environments.reduce((latest, one) => (one.lastSeenAt && one.lastSeenAt > latest ? one.lastSeenAt : latest), '')
}

const stages = ['initial', 'pre-live', 'live', 'completed']

/** Sorts the flags, favorites first. The server sends them by name, and equal ones stay in that order. */
export function sortFlags(rows: readonly FlagRow[], sort: Sort): readonly FlagRow[] {
  const sorted = sortAll(rows, sort)
  return sorted.some((row) => row.favorite) ? [...sorted.filter((row) => row.favorite), ...sorted.filter((row) => !row.favorite)] : sorted
}

function sortAll(rows: readonly FlagRow[], sort: Sort): readonly FlagRow[] {
  if (sort.by === 'name') return sort.descending ? rows.toReversed() : rows
  const key = sortKey(sort.by)
  const factor = sort.descending ? -1 : 1
  return rows.toSorted((a, b) => {
    const left = key(a)
    const right = key(b)
    return left === right ? 0 : left < right ? -factor : factor
  })
}

function sortKey(by: string): (row: FlagRow) => string | number {
  if (by.startsWith('environment:')) return (row) => (isOn(row, by.slice('environment:'.length)) ? 1 : 0)
  switch (by) {
    case 'type':
      return (row) => row.type
    case 'lifecycle':
      return (row) => stages.indexOf(row.lifecycle.stage)
    case 'created':
      return (row) => row.createdAt
    case 'seen':
      return lastSeen
    default:
      return (row) => row.name
  }
}

/** The tags of the flags with their number of flags: the most used first, at most limit. */
export function countTags(rows: readonly FlagRow[], limit: number): { tag: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const row of rows) for (const tag of row.tags ?? []) counts.set(tagText(tag), (counts.get(tagText(tag)) ?? 0) + 1)
  return [...counts]
    .map(([tag, count]) => ({ tag, count }))
    .sort((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1))
    .slice(0, limit)
}

/** A copy of the list in which the named flags are changed. */
export function changeRows(rows: ListedRow[], names: readonly string[], change: (row: ListedRow) => ListedRow): ListedRow[] {
  const wanted = new Set(names)
  return rows.map((row) => (wanted.has(row.name) ? change(row) : row))
}

/** The flag, on or off in an environment. What is on has a strategy. */
export function switched<Row extends ListedRow>(row: Row, environment: string, on: boolean): Row {
  const environments = row.environments.map((one) =>
    one.name !== environment ? one : { ...one, enabled: on, ...(on && !one.hasStrategies ? { hasStrategies: true, hasEnabledStrategies: true } : {}) },
  )
  return { ...row, environments }
}

/** The name of a type of flag. */
export const typeName = (type: string) => words(type)

/** The types of flags, with what each is for. */
export const flagTypes = [
  { value: 'release', label: 'Release', hint: 'Rolls out a new feature. Remove the flag when everyone has it.' },
  { value: 'experiment', label: 'Experiment', hint: 'Compares variants, such as in an A/B test.' },
  { value: 'operational', label: 'Operational', hint: 'Controls how the service runs, such as the load on a backend.' },
  { value: 'kill-switch', label: 'Kill switch', hint: 'Turns a feature off when it causes trouble. It usually stays.' },
  { value: 'permission', label: 'Permission', hint: 'Gives a feature to some users, such as paying ones. It usually stays.' },
] as const

/** The lifecycle stages that a flag of the list can have. */
export const lifecycleStages = stages.map((value) => ({ value, label: lifecycleText({ stage: value }).label }))
