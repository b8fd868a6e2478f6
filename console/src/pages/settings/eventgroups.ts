import { words } from '../../ui'

/** Types of events that belong together. */
export interface EventGroup {
  label: string
  types: string[]
}

// The first pattern that matches an event type decides.
const patterns: [label: string, pattern: RegExp][] = [
  ['Flags', /^(feature-|strategy-order-)/],
  ['Users, roles and access', /^(user-|service-account-|roles?-|project-user-|project-access-)/],
  ['Tokens', /^(api-token-|pat-|public-signup-token-)/],
  ['Projects', /^(project-|default-strategy-)/],
  ['Environments', /^environments?-/],
  ['Segments', /^segment-/],
  ['Release plans', /^(release-plan-|milestone-|safeguard-|signal-)/],
  ['Context fields', /^context-field-/],
  ['Strategy types', /^strategy-/],
  ['Tag types', /^tag-type-/],
  ['Applications', /^application-/],
  ['Webhooks', /^addon-/],
  ['Other', /./],
]

/** The events that only administrators may have sent. */
export const reservedGroups = ['Users, roles and access', 'Tokens']

/** What a new webhook sends: the changes that people want to hear of. */
export const usualEvents = [
  'feature-created',
  'feature-archived',
  'feature-revived',
  'feature-environment-enabled',
  'feature-environment-disabled',
  'feature-strategy-add',
  'feature-strategy-update',
  'feature-strategy-remove',
]

/** Sorts event types into groups, in the order of the groups. */
export function groupEvents(types: readonly string[]): EventGroup[] {
  const groups = patterns.map(([label]) => ({ label, types: [] as string[] }))
  for (const type of new Set(types)) {
    const index = patterns.findIndex(([, pattern]) => pattern.test(type))
    groups[index]?.types.push(type)
  }
  return groups.filter((group) => group.types.length > 0)
}

// Where the words of a type would not say it.
const labels: Record<string, string> = {
  'feature-environment-enabled': 'Flag switched on',
  'feature-environment-disabled': 'Flag switched off',
  'feature-strategy-add': 'Strategy added',
  'feature-strategy-update': 'Strategy changed',
  'feature-strategy-remove': 'Strategy removed',
  'feature-environment-variants-updated': 'Variants changed',
  'feature-metadata-updated': 'Flag edited',
  'feature-project-change': 'Flag moved to another project',
}

/** An event type in words of the console: 'Flag created', 'Webhook updated'. */
export function eventLabel(type: string): string {
  if (labels[type]) return labels[type]
  return words(type.replace(/^feature-/, 'flag-').replace(/^addon-(config-)?/, 'webhook-'))
}
