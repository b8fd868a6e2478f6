// What the changes of a change request do to what is stored now.
import type { Schema } from '../../api'
import { describeConstraints } from '../../constraints'
import { listed } from '../../ui'
import type { ChangeRequest, StoredChange } from '../../requests/data'
import { asStrategy, audienceOf, isOfPlan, type Milestone, type Plan } from '../flag/plan/model'
import { durationText, safeguardsText, type Safeguard } from '../flag/plan/words'
import { describeStrategy, onlyWhere } from '../flag/strategy/describe'
import type { Strategy } from '../flag/strategy/model'
import { shownStrategy } from '../flag/restore/versions'

/** A change in words, with the state before and after it where it has a difference to show. Where the one before is not known, there is none. */
export interface ShownChange {
  text: string
  before?: unknown
  after?: unknown
  /** The segments of its strategies. */
  segments?: number[]
  /** For whom the flag is on when the request has switched it on: a sentence for each strategy that applies then. */
  onFor?: string[]
  /** What the parents of the flag restrict then. */
  onlyWhere?: string
  /** For whom the flag is on now, if the request switches it off. */
  wasOnFor?: string[]
  /** The milestones of a release plan: for whom each is, and for how long. */
  milestones?: string[]
  /** The flags that depend on the one that is switched, also by its strategies. */
  dependents?: string[]
}

type Change = Pick<StoredChange, 'action' | 'payload'>
type Flag = Schema<'FeatureRecord'>
type Dependency = Schema<'Dependency'>
type Body = Record<string, unknown>

const named = (plan: Plan | undefined) => (plan ? ` “${plan.name}”` : '')

/** Each milestone in a sentence: '10%: 10% of users, for 1 hour'. */
function milestonesText(milestones: readonly Milestone[], names: ReadonlyMap<number, string>): string[] {
  return milestones.map(({ name, strategies = [], transitionCondition: after }, index) => {
    const end = index === milestones.length - 1 ? '' : after ? `, for ${durationText(after.intervalMinutes)}` : ', until the next is started by hand'
    return `${name}: ${audienceOf(strategies.map(asStrategy), names)}${end}`
  })
}

/**
 * Shows changes of one flag in an environment, each after the earlier ones. Without the flag, of which the state before is then not
 * known, a change shows only what it sets, if that can be said. A partial flag has only what the changes concern, see replacedBy. plan is the
 * release plan of the flag, which progress and removal concern.
 */
export function shownChanges(
  changes: readonly Change[],
  flag: Flag | undefined,
  environment: string,
  names: ReadonlyMap<number, string>,
  partial = false,
  plan?: Plan,
): ShownChange[] {
  const present = flag?.environments.find((one) => one.name === environment)
  let enabled = present?.enabled
  let strategies: Strategy[] = present?.strategies ?? []
  let variants: unknown = flag && !partial ? (present?.variants ?? []) : present?.variants
  let dependencies: Dependency[] = flag?.dependencies ?? []
  const knowsDependencies = !partial || flag?.dependencies !== undefined
  const shown = (strategy: Partial<Strategy>) => shownStrategy(complete(strategy), names)
  const quoted = new Map([...names].map(([id, name]) => [id, `“${name}”`]))
  const whom = (strategy: Partial<Strategy>) => describeStrategy(complete(strategy), quoted).slice(0, -1)
  // Titles and names are free: what a strategy does is always said, and first.
  const said = (strategy: Partial<Strategy>) =>
    `${whom(strategy)}${strategy.title ? `, titled “${strategy.title}”` : ''}.${strategy.disabled ? ' It is disabled.' : ''}`
  // Its variants are why the place of a strategy matters.
  const placed = (strategy: Strategy, place: number) =>
    `${place}. ${said(strategy)}${strategy.variants.length ? ` Variants: ${strategy.variants.map((one) => one.name).join(', ')}` : ''}`
  // A change of the flag itself has an effect wherever it is on.
  const others = (partial ? undefined : flag)?.environments.filter((one) => one.enabled && one.name !== environment).map(({ name }) => name) ?? []
  const also = others.length > 0 ? `, also in ${listed(others)}, where the flag is on` : ''
  const used = (...list: (Partial<Strategy> | undefined)[]) => [...new Set(list.flatMap((one) => one?.segments ?? []))]

  const dependents = flag && !partial && flag.children.length > 0 ? { dependents: flag.children } : undefined

  // Sets the strategies. As on the server, the flag goes off with the last one that applies.
  const set = (next: Strategy[]) => {
    const applies = (list: Strategy[]) => list.some(({ disabled }) => !disabled)
    const off = enabled && !partial && (next.length === 0 || (applies(strategies) && !applies(next)))
    strategies = next
    if (!off) return { sentence: '' }
    enabled = false
    return { sentence: ' No other strategy applies then, so the flag is switched off, too.', ...dependents }
  }

  const list = changes.map(({ action, payload }): ShownChange => {
    const body = (payload ?? {}) as Body
    const stored = strategies.find((one) => one.id === body.id)
    const forced = body.force ? `, although the signal of a safeguard fires: ${String(body.force)}` : ''
    switch (action) {
      case 'updateEnabled': {
        const was = enabled
        enabled = body.enabled === true
        const text = `Switch ${enabled ? 'on' : 'off'}${forced}`
        if (was === undefined) return { text }
        return { text: was === enabled ? `${text}: it is ${enabled ? 'on' : 'off'} already` : text }
      }
      case 'addStrategy':
        strategies = [...strategies, complete(body)]
        return { text: `Add strategy: ${said(body)}`, before: undefined, after: shown(body), segments: used(body) }
      case 'updateStrategy': {
        const next = { ...stored, ...body } as Partial<Strategy>
        const { sentence, ...off } = set(strategies.map((one) => (one.id === body.id ? complete(next) : one)))
        const was = stored && whom(stored) !== whom(next) ? `${whom(stored)} → ` : ''
        return {
          text: `Change strategy: ${was}${said(next)}${sentence}`,
          before: stored && shown(stored),
          after: shown(next),
          segments: used(stored, next),
          ...off,
        }
      }
      case 'deleteStrategy': {
        if (!stored) return { text: 'Remove a strategy' }
        const { sentence, ...off } = set(strategies.filter((one) => one.id !== body.id))
        return { text: `Remove strategy: ${said(stored)}${sentence}`, before: shown(stored), after: undefined, segments: used(stored), ...off }
      }
      case 'reorderStrategy': {
        const place = new Map((payload as { id: string; sortOrder: number }[]).map(({ id, sortOrder }) => [id, sortOrder]))
        const before = strategies
        strategies = [...strategies].sort((a, b) => (place.get(a.id) ?? a.sortOrder) - (place.get(b.id) ?? b.sortOrder))
        const row = (one: Strategy) => placed(one, before.indexOf(one) + 1)
        return { text: 'Reorder the strategies', before: before.map(row), after: strategies.map(row), segments: used(...before) }
      }
      case 'patchVariant': {
        const before = variants
        variants = body.variants
        return { text: 'Change the variants', before, after: variants }
      }
      case 'addReleasePlan': {
        const { name, milestones = [], existing, safeguards = [] } = body as { milestones?: Milestone[]; existing?: string; safeguards?: Safeguard[] } & Body
        const first = (milestones[0]?.strategies ?? []).map(asStrategy)
        strategies = [...(existing === 'keep' ? strategies : []), ...first]
        const guards = safeguards.length > 0 ? ` Safeguards: ${safeguardsText(safeguards)}.` : ''
        return {
          text: `Roll out by the release plan “${String(name)}”${existing === 'replace' ? ', which replaces the strategies' : existing === 'keep' ? ', beside the strategies that are there' : ''}.${guards}`,
          milestones: milestonesText(milestones, quoted),
          segments: used(...milestones.flatMap((one) => (one.strategies ?? []).map(asStrategy))),
        }
      }
      case 'startMilestone': {
        const started = plan?.milestones.find(({ id }) => id === body.milestoneId)
        if (!started) return { text: `Start a milestone of the release plan${forced}` }
        const its = (started.strategies ?? []).map(asStrategy)
        strategies = [...strategies.filter(({ id }) => !isOfPlan(plan, id)), ...its]
        return { text: `Start milestone ${started.name} of the release plan “${plan!.name}”${forced}: ${audienceOf(its, quoted)}`, segments: used(...its) }
      }
      case 'resumeMilestoneProgression':
        return { text: `Resume the release plan${named(plan)}${forced}`, ...(plan && { milestones: milestonesText(plan.milestones, quoted) }) }
      case 'deleteReleasePlan': {
        const { sentence, ...off } = set(strategies.filter(({ id }) => !isOfPlan(plan, id)))
        return { text: `Delete the release plan${named(plan)} and its strategies.${sentence}`, ...off }
      }
      case 'addDependency': {
        const before = knowsDependencies ? dependencies : undefined
        dependencies = [
          ...dependencies.filter((one) => one.feature !== body.feature),
          { enabled: true, variants: [], ...(body as Partial<Dependency>) } as Dependency,
        ]
        return { text: `Depend on ${String(body.feature)}${also}`, before, after: dependencies }
      }
      case 'deleteDependency': {
        const before = knowsDependencies ? dependencies : undefined
        dependencies = body.feature ? dependencies.filter((one) => one.feature !== body.feature) : []
        return { text: `${body.feature ? `No longer depend on ${String(body.feature)}` : 'Remove the dependencies'}${also}`, before, after: dependencies }
      }
      case 'archiveFeature':
        return { text: `Archive the flag: applications no longer get it${also}` }
      default:
        return { text: action, before: undefined, after: payload }
    }
  })
  if (partial)
    return list.map(({ before, after, ...rest }, index) => {
      const { action } = changes[index]!
      if (before !== undefined && action !== 'reorderStrategy') return { ...rest, before, after }
      return relative.includes(action) ? rest : { ...rest, ...(action === 'addStrategy' && { before }), after }
    })
  if (flag) {
    // Whom a switch concerns depends on all changes, also on those after it.
    const last = changes.findLastIndex(({ action }) => action === 'updateEnabled')
    const active = (of: Strategy[]) => of.filter(({ disabled }) => !disabled)
    const concerns = (name: 'onFor' | 'wasOnFor', of: Strategy[]) => ({ [name]: of.map(said), segments: used(...of) })
    if (last >= 0)
      list[last] = {
        ...list[last]!,
        ...(enabled && strategies.length > 0 && concerns('onFor', active(strategies))),
        ...(enabled && strategies.length > 0 && dependencies.length > 0 && { onlyWhere: onlyWhere(dependencies) }),
        ...(!enabled && present?.enabled && concerns('wasOnFor', active(present.strategies))),
        ...dependents,
      }
    return list
  }
  return list.map(({ before, after, ...rest }, index) => (relative.includes(changes[index]!.action) ? rest : { ...rest, after }))
}

/** What an applied change request has replaced of a flag: only what its changes concern. Undefined if nothing of it was kept. */
export function replacedBy(changes: readonly StoredChange[], environment: string): Flag | undefined {
  const kept = changes.filter(({ before }) => before)
  if (kept.length === 0) return undefined
  const of = (...actions: string[]) => kept.filter(({ action }) => actions.includes(action)).map(({ before }) => before as Body)
  const [enabled] = of('updateEnabled')
  const [variants] = of('patchVariant')
  const [dependencies] = of('addDependency', 'deleteDependency')
  const state = { name: environment, enabled: enabled?.enabled, strategies: of('updateStrategy', 'deleteStrategy'), variants: variants?.variants }
  return { environments: [state], dependencies: dependencies?.dependencies } as unknown as Flag
}

/** The release plan that an applied change request has started, resumed or deleted. */
export const replacedPlan = (changes: readonly StoredChange[]) =>
  changes.find(({ action, before }) => planActions.includes(action) && before)?.before as Plan | undefined

/** The changes that concern the release plan of a flag. */
export const planActions = ['startMilestone', 'resumeMilestoneProgression', 'deleteReleasePlan']

// Changes whose result depends on the state before them. The payload of every other change is its result.
const relative = ['updateEnabled', 'deleteStrategy', 'reorderStrategy', 'deleteDependency', 'archiveFeature', ...planActions]

/** A strategy of a change, with the defaults of what it leaves out. */
export const complete = (strategy: Partial<Strategy>): Strategy =>
  ({ name: 'flexibleRollout', title: null, disabled: false, parameters: {}, constraints: [], segments: [], variants: [], ...strategy }) as Strategy

/** Shows the change of a segment. */
export function shownSegmentChange({ action, payload }: Change, segment: Schema<'Segment'> | undefined): ShownChange {
  // Without a description or a project, the one has null and the other leaves it out.
  const read = ({ id: _id, createdBy: _by, createdAt: _at, ...members }: Partial<Schema<'Segment'>>) =>
    Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null)) as typeof members
  const before = segment && { before: read(segment) }
  if (action === 'deleteSegment') return { text: 'Delete the segment', ...(before && { ...before, after: undefined }) }
  return { text: 'Change the segment', ...before, after: read(payload as Partial<Schema<'Segment'>>) }
}

/** Where the changes of a change request have an effect. */
export const whereOf = (request: Pick<ChangeRequest, 'environment' | 'features' | 'segments'>) => request.environment + beyond(request)

/** Where else than in the environment of the change request. */
export const beyond = ({ features, segments }: Pick<ChangeRequest, 'features' | 'segments'>) =>
  (features.some(({ changes }) => changes.some(({ action }) => ofWholeFlag.includes(action))) ? ' and wherever its flags are on' : '') +
  (segments.length > 0 ? ' and wherever its segments are used' : '')

const ofWholeFlag = ['addDependency', 'deleteDependency', 'archiveFeature']

/** Whom a segment selects. Its name is free, and so in quotation marks. */
export function describeSegment(id: number, segment: Pick<Schema<'Segment'>, 'name' | 'constraints'> | undefined): string {
  if (!segment) return `Segment ${id}: whom it selects is not known.`
  const selects = segment.constraints.length
    ? `those for whom ${describeConstraints(segment.constraints, segmentValues)}`
    : 'everyone, because it has no constraints'
  return `Segment “${segment.name}” (${id}): ${selects}.`
}

// How many values of a constraint of a segment are shown.
const segmentValues = 20
