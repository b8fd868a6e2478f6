// What events say, in words.
import type { Schema } from '../../api'
import { describeConstraint } from '../../constraints/describe'
import { number, percent, plural, words } from '../../ui/format'
import { changeSentence, type ValueChange } from '../../words/sentence'
import { describeStrategy } from '../flag/strategy/describe'
import { durationText, safeguardsText } from '../flag/plan/words'
import { listOf } from '../flag/strategy/model'

type Event = Schema<'LoggedEvent'>

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
  'release-plan-added': 'Release plan added',
  'release-plan-removed': 'Release plan ended',
  'release-plan-milestone-started': 'Milestone started',
  'release-plan-progressions-paused': 'Release plan paused',
  'release-plan-progressions-resumed': 'Release plan resumed',
  'milestone-progression-changed': 'Time of a milestone changed',
  'milestone-progression-deleted': 'Time of a milestone removed',
  'safeguard-triggered': 'Safeguard triggered',
  'safeguard-changed': 'Safeguard changed',
  'safeguard-deleted': 'Safeguard removed',
  'signal-created': 'Signal created',
  'signal-rotated': 'Secret of a signal replaced',
  'signal-deleted': 'Signal deleted',
  'release-plan-template-created': 'Release template created',
  'release-plan-template-updated': 'Release template changed',
  'release-plan-template-archived': 'Release template archived',
  'release-plan-template-deleted': 'Release template deleted',
  'feature-dependency-added': 'Dependency added',
  'feature-dependency-removed': 'Dependency removed',
  'feature-dependencies-removed': 'Dependencies removed',
  'feature-project-change': 'Moved to another project',
  'feature-link-added': 'Link added',
  'feature-link-updated': 'Link changed',
  'feature-link-removed': 'Link removed',
  'feature-comment-added': 'Comment',
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
  'change-request-created': 'Change request created',
  'change-request-discarded': 'Change request discarded',
  'change-request-sent-to-review': 'Change request sent to review',
  'change-request-approval-added': 'Change request approved by one person',
  'change-request-approved': 'Change request approved',
  'change-request-rejected': 'Change request rejected',
  'change-request-cancelled': 'Change request cancelled',
  'change-request-applied': 'Change request applied',
  'change-request-scheduled': 'Change request scheduled',
  'change-request-scheduled-application-success': 'Scheduled change request applied',
  'change-request-scheduled-application-failure': 'Scheduled change request could not be applied',
  'change-request-schedule-suspended': 'Schedule of a change request suspended',
  'change-request-rebased': 'Change request re-based',
  'change-request-title-updated': 'Change request renamed',
  'change-request-comment-added': 'Comment on a change request',
  'change-request-requested-approvers-updated': 'Reviewers of a change request chosen',
  'change-added': 'Change added to a change request',
  'change-edited': 'Change of a change request edited',
  'change-discarded': 'Change of a change request removed',
  'change-request-configuration-updated': 'Change request settings changed',
  'change-request-glass-broken': 'Change requests skipped by breaking the glass',
  'change-freeze-set': 'Freeze set',
  'change-freeze-lifted': 'Freeze lifted',
  'change-freeze-skipped': 'Freeze skipped',
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

/** The names of what events know by number. */
export interface EventNames {
  user: (id: number) => string
  role: (id: number) => string
  segment: (id: number) => string
}

/** Numbers, for callers who cannot read the names. */
export const plainNames: EventNames = { user: (id) => `user ${id}`, role: (id) => `role ${id}`, segment: (id) => `#${id}` }

const withSubject =
  /^(user|signal|release-plan-template|service-account|sign-in-link|api-token|pat|public-signup-token|role|segment|tag-type|context-field|strategy|addon|application|project-user)-/

/** Which user, token, segment or other thing without a project an event is about: '' if its flag or project says so. */
export function subjectOf(event: Event, names: EventNames = plainNames): string {
  if (event.featureName || !withSubject.test(event.type)) return ''
  const of = { ...event.preData, ...event.data }
  const text = (...keys: string[]) => keys.map((key) => of[key]).find((value): value is string => typeof value === 'string' && value !== '')
  const user = typeof of.userId === 'number' ? names.user(of.userId) : undefined
  if (event.type.startsWith('pat-')) return [text('description'), user].filter(Boolean).join(' of ')
  if (event.type.startsWith('addon-')) return text('description', 'provider') ?? ''
  return user ?? text('tokenName', 'appName', 'name', 'username', 'email') ?? ''
}

const maxDepth = 6

// What the titles of these events say already.
const said: Record<string, string> = {
  'feature-environment-enabled': 'enabled',
  'feature-environment-disabled': 'enabled',
  'feature-stale-on': 'stale',
  'feature-stale-off': 'stale',
  'feature-archived': 'archived',
  'feature-revived': 'archived',
}

/** The changed values of an event. A path is empty where the title of the event says it. */
export function changesOf(
  event: Pick<Event, 'preData' | 'data'> & { type?: string; environment?: string | null },
  names: EventNames = plainNames,
): ValueChange[] {
  const found: ValueChange[] = []
  const { preData, data } = event
  // The order of strategies is numbers by id, which nobody can read.
  if (omittedOf(event) || event.type === 'strategy-order-changed') return []
  const [edited, edit] = event.type === 'change-edited' ? [editOf(preData), editOf(data)] : []
  if (edited && edit) {
    compare([String(edit.feature ?? `segment ${names.segment(Number(edit.segmentId))}`), String(edit.action)], edited.payload, edit.payload, found, names)
  } else if (event.type === 'feature-strategy-add' || event.type === 'feature-strategy-remove') {
    const strategy = event.type === 'feature-strategy-add' ? data : preData
    const text = strategy ? (strategy.title ? `${cut(String(strategy.title))}: ` : '') + valueText('', strategy, names) : 'nothing'
    found.push({ path: '', ...(strategy === data ? { before: 'nothing', after: text } : { before: text, after: 'nothing' }) })
  } else if (event.type === 'feature-comment-added') {
    found.push({ path: '', before: 'nothing', after: String(data?.text ?? '') })
  } else if (event.type && progress.test(event.type)) {
    progressed(event as Pick<Event, 'preData' | 'data' | 'type'>, found, names)
  } else if (event.type === 'feature-created' && data) {
    begins(data, found, names)
  } else if (isObject(preData) && isObject(data)) {
    // Events with a part of the state have only the fields that changed, so a missing field is no change.
    for (const key of Object.keys(data))
      if (key in preData && key !== said[event.type ?? '']) compare([key === event.environment ? 'variants' : key], preData[key], data[key], found, names)
  } else if (event.type === 'feature-tagged' || event.type === 'feature-untagged') {
    found.push({ path: '', before: tagOf(preData), after: tagOf(data) })
  } else if (event.type === 'feature-dependency-added' || event.type === 'feature-dependency-removed') {
    found.push({ path: '', before: parentOf(preData), after: parentOf(data) })
  } else if (event.type === 'feature-project-change' && typeof data?.oldProject === 'string') {
    found.push({ path: 'project', before: short(data.oldProject), after: short(data.newProject) })
  } else if (event.type === 'change-freeze-set' || event.type === 'change-freeze-lifted') {
    found.push({ path: '', before: short(preData?.reason), after: short(data?.reason) })
  } else if (event.type === 'feature-dependencies-removed' && Array.isArray(preData?.dependencies)) {
    for (const one of preData.dependencies as NonNullable<Event['data']>[]) found.push({ path: '', before: parentOf(one), after: 'nothing' })
  }
  return found
}

const progress = /^(release-plan-(added|removed|milestone|progressions)|milestone-progression|safeguard)-?/

/** What happened to a release plan, or to its time and safeguards. */
function progressed({ type, preData, data }: Pick<Event, 'preData' | 'data' | 'type'>, found: ValueChange[], names: EventNames) {
  const say = (before: string, after = before, path = '') => found.push({ path, before, after: after === before ? 'nothing' : after })
  if (type === 'release-plan-added' && data) {
    const milestones = Array.isArray(data.milestones) ? data.milestones.filter(isObject) : []
    say(`${short(data.name)} (${milestones.map(({ name }) => String(name)).join(', ')})`)
  } else if (type === 'release-plan-removed') {
    say(short(preData?.name))
    const kept = Array.isArray(data?.strategies) ? data.strategies.filter(isStrategy) : []
    say(kept.length > 0 ? `finished, its strategies stay: ${kept.map((one) => strategyText(one, names)).join(', ')}` : 'deleted with its strategies')
  } else if (type.startsWith('milestone-progression')) {
    const minutes = (of: Event['data']) => (isObject(of?.transitionCondition) ? durationText(Number(of.transitionCondition.intervalMinutes)) : 'by hand')
    say(minutes(preData), minutes(data))
  } else {
    const [was, now] = [preData?.milestoneName, data?.milestoneName].map((name) => (typeof name === 'string' ? cut(name) : undefined))
    if (now && was && was !== now) say(was, now)
    else if (now ?? was) say((now ?? was)!)
  }
  const { cause, ...of } = { ...preData, ...data } as { cause?: unknown; safeguard?: unknown }
  const { signal, action } = (isObject(of.safeguard) ? of.safeguard : of) as { signal?: { name?: string }; action?: { type?: string } }
  if (signal && action) say(safeguardsText([{ signal, action: { type: action.type === 'off' ? 'off' : 'pause' } }]))
  if (typeof cause === 'string' && cause) say(cut(cause.replace(/\.$/, ''), maxSentence))
}

/** What differs between two states of a thing, such as a strategy, a sentence each. */
export function differencesOf(before: object, after: object, names: EventNames = plainNames): ValueChange[] {
  const found: ValueChange[] = []
  const [old, now] = [before, after] as [Record<string, unknown>, Record<string, unknown>]
  for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) compare([key], old[key], now[key], found, names)
  return found
}

/** What a flag has from the start that an import or a clone has created. Other new flags have nothing of it. */
function begins(data: NonNullable<Event['data']>, found: ValueChange[], names: EventNames) {
  const list = (value: unknown) => (Array.isArray(value) ? value.filter(isObject) : [])
  if (data.clonedFrom) found.push({ path: 'clonedFrom', before: 'nothing', after: short(data.clonedFrom) })
  if (data.enabled) found.push({ path: 'enabled', before: 'false', after: 'true' })
  for (const its of [data, ...list(data.environments)])
    for (const key of ['strategies', 'variants']) compare(its === data ? [key] : [String(its.name), key], undefined, its[key], found, names)
  for (const one of list(data.dependencies)) found.push({ path: 'parent', before: 'nothing', after: parentOf(one) })
  for (const one of list(data.tags)) found.push({ path: 'tag', before: 'nothing', after: tagOf(one) })
}

/** What the log says instead of data that is too large for it; undefined if it has all. */
export function omittedOf({ preData, data }: Pick<Event, 'preData' | 'data'>): string | undefined {
  const changes = isObject(data) && Array.isArray(data.changes) ? data.changes.map((change) => isObject(change) && change.payload) : []
  for (const one of [data, preData, ...changes]) if (isObject(one) && typeof one.omitted === 'string') return one.omitted
  return undefined
}

// The only change of a change request in an event, unless it is of a draft, which is private.
const editOf = (data: Event['data']) => (Array.isArray(data?.changes) && isObject(data.changes[0]) ? data.changes[0] : undefined)
const tagOf = (tag: Event['data']) => (tag ? cut(`${String(tag.type)}:${String(tag.value)}`) : 'nothing')
// A parent, and what it must be, unless that is on with any variant.
const parentOf = (one: Event['preData']) => {
  if (!one) return 'nothing'
  const must = one.enabled === false ? ['off'] : Array.isArray(one.variants) ? one.variants : []
  return cut(`${String(one.feature)}${must.length > 0 ? ` (must be ${must.join(' or ')})` : ''}`)
}

function compare(path: string[], before: unknown, after: unknown, found: ValueChange[], names: EventNames) {
  if (JSON.stringify(before) === JSON.stringify(after)) return
  if (isObject(before) && isObject(after) && path.length < maxDepth) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      // An import gives strategies new ids, which nobody can read.
      if (key !== 'id' || !isStrategy(after)) compare([...path, key], before[key], after[key], found, names)
    return
  }
  const [old, now] = [byName(before, names), byName(after, names)]
  if (old && now && old.size + now.size > 0) {
    for (const key of new Set([...old.keys(), ...now.keys()])) {
      const [one, other] = [old.get(key), now.get(key)]
      if (one && other) compare([...path, key], one, other, found, names)
      else found.push({ path: [...path, key].join(' › '), before: entry(one, names), after: entry(other, names) })
    }
    return
  }
  const key = path.at(-1) ?? ''
  const lists = listChange(key, before, after, names)
  if (lists) return lists.added.length + lists.removed.length > 0 ? void found.push({ path: path.join(' › '), ...lists }) : undefined
  const [from, to] = difference(before, after) ?? [valueText(key, before, names), valueText(key, after, names)]
  if (from !== 'nothing' || to !== 'nothing') found.push({ path: path.join(' › '), before: from, after: to })
}

// What a list gained and lost, unless it is new or gone. Its order is no change.
function listChange(key: string, before: unknown, after: unknown, names: EventNames) {
  const [old, now] = [textsOf(key, before, names), textsOf(key, after, names)]
  if (!old?.length || !now?.length) return undefined
  const [had, has] = [new Set(old), new Set(now)]
  const [added, removed] = [[...has].filter((one) => !had.has(one)), [...had].filter((one) => !has.has(one))]
  return { before: plural(old.length, 'value'), after: plural(now.length, 'value'), added, removed }
}

/** Where two long texts differ, which can start alike. Undefined if what is shown of them says it. */
function difference(before: unknown, after: unknown): [string, string] | undefined {
  if (typeof before !== 'string' || typeof after !== 'string' || before.slice(0, maxText) !== after.slice(0, maxText)) return undefined
  let same = 0
  while (same < before.length && before[same] === after[same]) same++
  const from = Math.max(0, same - 20)
  return [`…${cut(before.slice(from))}`, `…${cut(after.slice(from))}`]
}

// The texts of a list, and of the parameters of strategies that are lists.
function textsOf(key: string, value: unknown, names: EventNames): string[] | undefined {
  if (Array.isArray(value)) {
    const known = namesOf(key, names)
    return value.every((one) => typeof one === 'string' || known)
      ? value.map((one) => (known && typeof one === 'number' ? known(one) : String(one)))
      : undefined
  }
  return ['userIds', 'IPs', 'hostNames'].includes(key) && typeof value === 'string' ? listOf(value) : undefined
}

/** The entries of a list by what people call them: the title or name of a strategy, the name of a variant, the field of a constraint. Undefined if it is no such list. */
function byName(list: unknown, names: EventNames): Map<string, Record<string, unknown>> | undefined {
  if (list === undefined || list === null) return new Map()
  if (!Array.isArray(list)) return undefined
  const found = new Map<string, Record<string, unknown>>()
  for (const one of list) {
    if (!isObject(one)) return undefined
    const title = isStrategy(one) && one.title
    const name = typeof one.userId === 'number' ? names.user(one.userId) : title || (one.name ?? one.contextName ?? one.value ?? one.title)
    if (typeof name !== 'string') return undefined
    let key = name
    for (let n = 2; found.has(key); n++) key = `${name} (${n})`
    found.set(key, one)
  }
  return found
}

/** An entry that is only in one of the two lists. */
function entry(one: Record<string, unknown> | undefined, names: EventNames): string {
  if (!one) return 'nothing'
  if (typeof one.operator === 'string') return cut(describeConstraint({ values: [], ...one } as never))
  if (typeof one.weight === 'number') return percent(one.weight / 10)
  return valueText('', one, names)
}

const namesOf = (key: string, names: EventNames): ((id: number) => string) | undefined =>
  ({ segments: names.segment, roles: names.role, rootRole: names.role, role: names.role })[key]

function valueText(key: string, value: unknown, names: EventNames): string {
  const known = namesOf(key, names)
  if (known && Array.isArray(value)) return short(value.map((id) => (typeof id === 'number' ? known(id) : id)))
  if (known && typeof value === 'number') return known(value)
  if (isStrategy(value)) return strategyText(value, names)
  return key === 'weight' && typeof value === 'number' ? percent(value / 10) : short(value)
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

interface Strategy {
  name: string
  title?: string | null
  disabled?: boolean
  parameters: Record<string, string>
  constraints: []
  segments: number[]
}

const isStrategy = (value: unknown): value is Strategy =>
  isObject(value) && typeof value.name === 'string' && isObject(value.parameters) && Array.isArray(value.constraints) && Array.isArray(value.segments)

/** A strategy as its card says it; the details of the event have all of it. */
function strategyText(strategy: Strategy, names: EventNames): string {
  const text = describeStrategy(strategy, new Map(strategy.segments.map((id) => [id, names.segment(id)]))).replace(/\.$/, '')
  return cut(text, maxSentence) + (strategy.disabled ? ' (disabled)' : '')
}

const shownEntries = 3
const maxText = 60
const maxSentence = 240

function short(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'nothing'
  if (Array.isArray(value))
    return value.length === 0
      ? 'nothing'
      : value.every((one) => typeof one === 'string')
        ? value.length <= shownEntries
          ? cut(value.join(', '))
          : `${cut(value.slice(0, shownEntries).join(', '))} and ${number(value.length - shownEntries)} more`
        : `${number(value.length)} ${value.length === 1 ? 'entry' : 'entries'}`
  if (typeof value === 'object') {
    const members = Object.entries(value).map(([key, member]) => [key, short(member)])
    return cut(
      members
        .filter(([, text]) => text !== 'nothing')
        .map((member) => member.join(' '))
        .join(', '),
    )
  }
  return cut(String(value))
}

const cut = (text: string, max = maxText) => (text.length > max ? `${text.slice(0, max)}…` : text)

const shownChanges = 4

/** A change of a flag in one line: 'Strategy changed in production: Rollout 10% → 50%'. */
export function changeText(event: Event, names: EventNames = plainNames): string {
  const where = event.environment ? ` in ${event.environment}` : ''
  const changes = /^feature-environment-(en|dis)abled$/.test(event.type) ? [] : changesOf(event, names)
  const what = changes.slice(0, shownChanges).map(changeSentence).join(', ')
  const more = changes.length - shownChanges
  return eventTitle(event.type) + where + (what && `: ${what}`) + (more > 0 ? ` and ${number(more)} more` : '')
}

/** The words of one filter of the API, for values between commas. */
export function is(text: string): string | undefined {
  const values = text
    .split(',')
    .map((value) => value.trim())
    .filter(Boolean)
  return values.length === 0 ? undefined : values.length === 1 ? `IS:${values[0]}` : `IS_ANY_OF:${values.join(',')}`
}

/** Events that belong together: those of one application of a change request, what one person did with a change request in a row, or one by itself. */
export interface EventGroup<One> {
  /** The change request that was applied. */
  request?: string
  /** The event of the application; absent if the filters or the page leave it out. */
  applied?: One
  events: One[]
}

const applications = ['change-request-applied', 'change-request-scheduled-application-success']
const foldedWithin = 60_000

type Grouped = Pick<Event, 'type' | 'groupType' | 'groupId'> & Partial<Pick<Event, 'project' | 'data' | 'createdBy' | 'createdAt'>>

/** Neighbouring events of one application, or of one person's acts on a change request within a minute, as one group. */
export function groupsOf<One extends Grouped>(events: readonly One[]): EventGroup<One>[] {
  const groups: EventGroup<One>[] = []
  for (const event of events) {
    const request = event.groupType === 'change-request' ? event.groupId : undefined
    let last = groups.at(-1)
    const together = request === undefined ? last && !last.request && sameAct(event, last.events[0]!) : last?.request === request
    if (!last || !together) groups.push((last = { request, events: [] }))
    // The event of the schedule says more than the one that each application has.
    if (request !== undefined && applications.includes(event.type)) last.applied ??= event
    else last.events.push(event)
  }
  return groups
}

const sameAct = (event: Grouped, newer: Grouped) =>
  requestOf(event) !== undefined &&
  requestOf(event) === requestOf(newer) &&
  event.project === newer.project &&
  event.createdBy === newer.createdBy &&
  Date.parse(newer.createdAt ?? '') - Date.parse(event.createdAt ?? '') < foldedWithin

/** The change request that an event is about. */
export const requestOf = ({ data }: Partial<Pick<Event, 'data'>>) => (typeof data?.changeRequestId === 'number' ? data.changeRequestId : undefined)

/** Whether an event is of a draft, which only its author sees. */
export const isOfDraft = ({ type, data }: Pick<Event, 'type' | 'data'>) =>
  type.startsWith('change-') && (data?.state === 'Draft' || type === 'change-request-discarded')

// What is done to a change request, after its name. The last approval is one of them, and a new request has its first changes.
const acts: Record<string, string> = {
  'change-request-created': 'created',
  'change-request-discarded': 'discarded',
  'change-request-sent-to-review': 'sent to review',
  'change-request-approval-added': 'approved',
  'change-request-approved': 'approved',
  'change-request-rejected': 'rejected',
  'change-request-cancelled': 'cancelled',
  'change-request-scheduled': 'scheduled',
  'change-request-rebased': 'updated',
  'change-request-title-updated': 'renamed',
  'change-request-comment-added': 'commented on',
  'change-request-requested-approvers-updated': 'reviewers asked',
  'change-added': 'change added',
  'change-edited': 'change edited',
  'change-discarded': 'change removed',
}

/** What events do to a change request, the oldest first: 'created, sent to review'. Undefined if one of them is of another kind. */
export function actsOf(events: readonly Pick<Event, 'type'>[]): string | undefined {
  const all = [...new Set(events.map(({ type }) => acts[type]).reverse())]
  if (all.includes(undefined)) return undefined
  return (all.includes('created') ? all.filter((act) => act !== 'change added') : all).join(', ')
}
