// What events say, in words.
import type { Schema } from '../../api'
import { number, words } from '../../ui/format'

type Event = Schema<'Event'>

// Words for the types whose names do not say it well. `words` makes the others readable.
const texts: Record<string, string> = {
  'feature-created': 'Flag created',
  'feature-metadata-updated': 'Flag edited',
  'feature-updated': 'Flag imported',
  'feature-archived': 'Flag archived',
  'feature-revived': 'Flag revived',
  'feature-stale-on': 'Marked as stale',
  'feature-stale-off': 'No longer stale',
  'feature-completed': 'Marked as completed',
  'feature-uncompleted': 'No longer completed',
  'feature-tagged': 'Tag added',
  'feature-untagged': 'Tag removed',
  'feature-environment-enabled': 'Switched on',
  'feature-environment-disabled': 'Switched off',
  'feature-strategy-add': 'Strategy added',
  'feature-strategy-update': 'Strategy changed',
  'feature-strategy-remove': 'Strategy removed',
  'strategy-order-changed': 'Strategies reordered',
  'feature-environment-variants-updated': 'Variants changed',
  'feature-variants-updated': 'Variants changed everywhere',
  'feature-dependency-added': 'Parent flag added',
  'feature-dependency-removed': 'Parent flag removed',
  'feature-dependencies-removed': 'Parent flags removed',
  'feature-project-change': 'Moved to another project',
  'feature-favorited': 'Added to favorites',
  'feature-unfavorited': 'Removed from favorites',
  'api-token-created': 'API token created',
  'api-token-updated': 'API token changed',
  'api-token-deleted': 'API token deleted',
  'pat-created': 'Personal token created',
  'pat-deleted': 'Personal token deleted',
  'strategy-created': 'Strategy type created',
  'strategy-updated': 'Strategy type changed',
  'strategy-deleted': 'Strategy type deleted',
  'strategy-deprecated': 'Strategy type deprecated',
  'strategy-reactivated': 'Strategy type reactivated',
  'addon-config-created': 'Webhook created',
  'addon-config-updated': 'Webhook changed',
  'addon-config-deleted': 'Webhook deleted',
  'project-environment-added': 'Environment added to project',
  'project-environment-removed': 'Environment removed from project',
  'environments-seeded': 'First environments created',
  'roles-seeded': 'First roles created',
}

/** The types of events that the filter of the audit log offers. */
export const eventTypes: readonly string[] = [
  ...Object.keys(texts),
  ...['application-created', 'application-updated', 'application-deleted', 'context-field-created', 'context-field-updated', 'context-field-deleted'],
  ...['default-strategy-updated', 'environment-created', 'environment-updated', 'environment-deleted', 'project-created', 'project-updated', 'project-deleted'],
  ...['project-access-updated', 'project-user-added', 'project-user-removed', 'project-user-role-changed', 'project-favorited', 'project-unfavorited'],
  ...[
    'role-created',
    'role-updated',
    'role-deleted',
    'segment-created',
    'segment-updated',
    'segment-deleted',
    'tag-type-created',
    'tag-type-updated',
    'tag-type-deleted',
  ],
  ...['service-account-created', 'service-account-updated', 'service-account-deleted', 'user-created', 'user-updated', 'user-deleted'],
  ...['user-signed-in', 'user-signed-out', 'user-signed-out-everywhere', 'sign-in-link-created', 'public-signup-token-created', 'public-signup-token-updated'],
].sort()

/** The type of an event in words: 'Strategy changed'. */
export const eventTitle = (type: string) => texts[type] ?? words(type)

/** One changed value. */
export interface Change {
  /** Where: 'parameters › rollout'. */
  path: string
  before: string
  after: string
}

const shownChanges = 3
const maxDepth = 6

/** The first changed values of an event with a state before and after it, and how many more there are. */
export function changesOf(event: Pick<Event, 'preData' | 'data'>): { changes: Change[]; more: number } {
  if (!isObject(event.preData) || !isObject(event.data)) return { changes: [], more: 0 }
  const found: Change[] = []
  // Events with a part of the state have only the fields that changed, so a missing field is no change.
  for (const key of Object.keys(event.data)) if (key in event.preData) compare([key], event.preData[key], event.data[key], found)
  return { changes: found.slice(0, shownChanges), more: Math.max(0, found.length - shownChanges) }
}

function compare(path: string[], before: unknown, after: unknown, found: Change[]) {
  if (JSON.stringify(before) === JSON.stringify(after)) return
  if (isObject(before) && isObject(after) && path.length < maxDepth) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) compare([...path, key], before[key], after[key], found)
    return
  }
  found.push({ path: path.join(' › '), before: short(before), after: short(after) })
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

const maxText = 40

function short(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'nothing'
  if (Array.isArray(value))
    return value.length === 0
      ? 'nothing'
      : value.every((one) => typeof one === 'string') && value.length <= 3
        ? cut(value.join(', '))
        : `${number(value.length)} ${value.length === 1 ? 'entry' : 'entries'}`
  if (typeof value === 'object') return cut(JSON.stringify(value))
  return cut(String(value))
}

const cut = (text: string) => (text.length > maxText ? `${text.slice(0, maxText)}…` : text)

/** A change of a flag in one line: 'Strategy changed in production: parameters › rollout 10 → 50'. */
export function changeText(event: Event): string {
  const where = event.environment ? ` in ${event.environment}` : ''
  const { changes, more } = changesOf(event)
  const what = changes.map(({ path, before, after }) => `${path} ${before} → ${after}`).join(', ')
  return eventTitle(event.type) + where + (what && `: ${what}`) + (more > 0 ? ` and ${number(more)} more` : '')
}

/** The words of one filter of the API: a single value. Values with commas would be read as several. */
export const is = (value: string) => (value.trim() === '' ? undefined : `IS:${value.trim()}`)
