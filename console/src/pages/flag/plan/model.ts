// Release plans without React: what their forms edit, ready templates, and states in words.
import type { Schema } from '../../../api'
import { errorText } from '../../../api/errors'
import { percent } from '../../../ui/format'
import { describeStrategy } from '../strategy/describe'
import { widens } from '../strategy/difference'
import { newStrategy, percentageName, strategyDraft, strategyRequest, type StrategyDraft } from '../strategy/model'
import { endOf, minutesIn, type End, type Safeguard } from './words'

/** A release plan of a flag in an environment. */
export type Plan = Omit<Schema<'Plan'>, 'safeguards'> & { safeguards?: readonly Safeguard[] }
/** A milestone of a plan or a template. */
export type Milestone = Schema<'Milestone'>
/** A template of the service. In a list it has no strategies. */
export type Template = Omit<Schema<'ReleaseTemplate'>, 'safeguards'> & { safeguards?: readonly Safeguard[] }

/** The limits of the server. */
export const maxMilestones = 10
export const maxSafeguards = 3

/** What the form of a milestone edits. An empty name becomes what the milestone selects. */
export interface MilestoneDraft {
  name: string
  end: End
  strategies: StrategyDraft[]
}

/** What the form of a safeguard edits: an ARN of an alarm, or the name of a signal. */
export interface SafeguardDraft {
  signal: string
  action: 'pause' | 'off'
}

/** What the form of a plan or a template edits. */
export interface PlanDraft {
  name: string
  description: string
  milestones: MilestoneDraft[]
  safeguards: SafeguardDraft[]
}

/** A milestone for a percentage of users. */
export const milestoneFor = (rollout: number, end: End, stickiness?: string): MilestoneDraft => ({
  name: '',
  end,
  strategies: [newStrategy(stickiness, rollout)],
})

const ready = (name: string, percentages: number[], unit: 'hours' | 'days', each: string) => ({
  name,
  each,
  note: `${percentages.join(', ')}%, ${each}`,
  draft: (stickiness?: string): PlanDraft => ({
    name,
    description: '',
    milestones: percentages.map((one) => milestoneFor(one, { unit, count: 1 }, stickiness)),
    safeguards: [],
  }),
})

/** The templates that every service has. */
export const readyTemplates = [ready('Canary', [1, 10, 50, 100], 'hours', 'an hour each'), ready('Daily', [10, 25, 50, 100], 'days', 'a day each')]

/** What the form edits of a stored template or plan. */
export function draftOf({ name, description, milestones, safeguards = [] }: Pick<Template, 'name' | 'description' | 'milestones' | 'safeguards'>): PlanDraft {
  return {
    name,
    description: description ?? '',
    milestones: milestones.map((one) => ({
      name: one.name,
      end: endOf(one.transitionCondition?.intervalMinutes),
      strategies: (one.strategies ?? []).map((strategy) => strategyDraft(asStrategy(strategy))),
    })),
    safeguards: safeguards.map(safeguardDraft),
  }
}

/** A strategy of a milestone as one of a flag: its type has another key. */
export const asStrategy = ({ strategyName, ...rest }: Schema<'MilestoneStrategy'>) => ({ ...rest, name: strategyName }) as unknown as Schema<'Strategy'>

/** The alarm or the name of a signal. */
export const signalText = ({ alarm, name }: Safeguard['signal']) => alarm ?? name ?? ''

const safeguardDraft = ({ signal, action }: Pick<Safeguard, 'signal' | 'action'>): SafeguardDraft => ({
  signal: signalText(signal),
  action: action.type === 'off' ? 'off' : 'pause',
})

/** The body of a safeguard. */
export function safeguardRequest({ signal, action }: SafeguardDraft) {
  const text = signal.trim()
  return { signal: text.startsWith('arn:') ? { alarm: text } : { name: text }, action: { type: action } }
}

/** The body that adds a plan or writes a template. The last milestone has no end. */
export function planRequest({ name, description, milestones, safeguards }: PlanDraft) {
  return {
    name: name.trim(),
    description: description.trim() || null,
    milestones: milestones.map((one, index) => {
      const minutes = index < milestones.length - 1 ? minutesIn(one.end) : null
      return {
        name: milestoneName(one, index),
        sortOrder: index,
        transitionCondition: minutes === null ? null : { intervalMinutes: minutes },
        strategies: one.strategies.map((draft, sortOrder) => {
          const { name: strategyName, ...rest } = strategyRequest(draft)
          return { strategyName: strategyName!, ...rest, sortOrder }
        }),
      }
    }),
    ...(safeguards.length > 0 && { safeguards: safeguards.map(safeguardRequest) }),
  }
}

/** The percentage of a milestone with one strategy, which is a rollout; undefined for others, NaN while the field is empty. */
export function percentOf({ strategies }: { strategies: readonly Pick<StrategyDraft, 'name' | 'parameters'>[] }): number | undefined {
  const [only, ...others] = strategies
  const parameter = only && percentageName(only)
  return parameter && others.length === 0 ? Number(only.parameters[parameter] || NaN) : undefined
}

/** The name of a milestone, or its percentage if it has none. */
export function milestoneName(milestone: MilestoneDraft, index: number): string {
  const share = percentOf(milestone)
  return milestone.name.trim() || (share === undefined || Number.isNaN(share) ? `Milestone ${index + 1}` : percent(share))
}

/** A draft with another percentage. */
export const withPercent = (milestone: MilestoneDraft, value: number | null): MilestoneDraft => ({
  ...milestone,
  strategies: milestone.strategies.map((one) => ({ ...one, parameters: { ...one.parameters, [percentageName(one)!]: value === null ? '' : String(value) } })),
})

/** Whether users can lose a flag when the strategies of a milestone replace those that it has. An empty groupId becomes the name of the flag. */
export function takesFrom(flag: string, present: readonly StrategyDraft[], first: readonly StrategyDraft[]): boolean {
  const enabled = (list: readonly StrategyDraft[]) => list.filter(({ disabled }) => !disabled)
  const grouped = (one: StrategyDraft) => ({ ...one, parameters: { ...one.parameters, groupId: one.parameters.groupId || flag } })
  return enabled(present).some((one) => enabled(first).every((other) => widens(grouped(other), grouped(one))))
}

/**
 * The milestones with which a rollout goes on from its present percentage: for the same users, then for more of them. Undefined if it is none, or
 * milestones are more than percentages.
 */
export function goingOn(present: readonly StrategyDraft[], milestones: readonly MilestoneDraft[]): { share: number; milestones: MilestoneDraft[] } | undefined {
  const share = percentOf({ strategies: present })
  if (!share || share >= 100 || milestones.some((one) => percentOf(one) === undefined || one.strategies.some(isNarrowed))) return undefined
  const later = milestones.filter((one) => percentOf(one)! > share)
  const at = (one: MilestoneDraft, percentage: number) => withPercent({ ...one, name: '', strategies: [...present] }, percentage)
  return { share, milestones: [at(milestones[0]!, share), ...later.map((one) => at(one, percentOf(one)!))] }
}

type Described = Parameters<typeof describeStrategy>[0] & { disabled?: boolean }

/** For whom the flag is on while a milestone runs: '10% of users', 'Everyone in segment Beta or 10% of users'. */
export function audienceOf(strategies: readonly Described[], names: ReadonlyMap<number, string>): string {
  const list = strategies.filter(({ disabled }) => !disabled).map((one) => describeStrategy(one, names).replace(/\.$/, ''))
  return list.map((text, index) => (index === 0 ? text : text.charAt(0).toLowerCase() + text.slice(1))).join(' or ')
}

/** Whether a strategy says more than a percentage of users. */
export const isNarrowed = (strategy: StrategyDraft) =>
  strategy.constraints.length + strategy.segments.length + strategy.variants.length > 0 || strategy.disabled || strategy.title !== ''

/** What is wrong with a draft that the server would not say at the field. */
export function planProblems({ milestones, safeguards }: PlanDraft): { milestones?: string; safeguards?: string } {
  const ends = milestones.slice(0, -1).some(({ end }) => end.unit !== 'hand' && !((end.count ?? 0) >= 1))
  const shares = milestones.map(percentOf).filter((one) => one !== undefined)
  return {
    milestones: ends
      ? 'Enter for how long each milestone runs.'
      : shares.some((one) => !Number.isInteger(one) || one < 0 || one > 100)
        ? 'Enter percentages from 0 to 100.'
        : '',
    safeguards: safeguards.some(({ signal }) => signal.trim() === '') ? 'Enter the name of a signal, or the ARN of an alarm.' : '',
  }
}

/** The index of the milestone that has run last; -1 before the first. */
export const activeIndex = ({ milestones, activeMilestoneId }: Pick<Plan, 'milestones' | 'activeMilestoneId'>) =>
  milestones.findIndex(({ id }) => id === activeMilestoneId)

/** The state of a plan: a badge, and words that end before the time of the next milestone, if there is one. */
export interface PlanStatus {
  label: string
  kind: 'neutral' | 'ok' | 'warn' | 'danger' | 'accent'
  text: string
  at?: string
}

/** The one state of a plan in words. */
export function planStatus(plan: Plan): PlanStatus {
  const index = activeIndex(plan)
  const [active, next] = [plan.milestones[index]?.name, plan.milestones[index + 1]?.name]
  const at = plan.nextAt ?? undefined
  const reason = errorText(new Error(plan.stateReason)) // with its times in the chosen form
  switch (plan.state as string) {
    case 'off':
      return /^A safeguard\b/.test(reason)
        ? { label: 'Stopped', kind: 'danger', text: reason }
        : { label: 'Off', kind: 'neutral', text: reason.replace(/^The flag is off in this environment\. /, '') }
    case 'paused':
      return { label: 'Paused', kind: 'neutral', text: `Stays at ${active ?? 'the start'} until it is resumed.` }
    case 'frozen':
      return at
        ? { label: 'Frozen', kind: 'neutral', text: `Nothing starts during the freeze. ${next} follows`, at }
        : { label: 'Frozen', kind: 'neutral', text: 'Nothing starts during the freeze.' }
    case 'held':
      return { label: 'Held', kind: 'neutral', text: reason }
    case 'stopped':
      return { label: 'Stopped', kind: 'danger', text: reason }
    case 'last':
      return { label: 'Last milestone', kind: 'ok', text: 'No other milestone follows.' }
  }
  return at ? { label: 'Running', kind: 'accent', text: `${next} starts`, at } : { label: 'Running', kind: 'accent', text: `${next} waits for you.` }
}

/** What is sent if a plan has got other times and safeguards: the milestones whose time changed, with the one that follows. */
export const changedEnds = (plan: Plan, ends: readonly End[]) =>
  plan.milestones
    .slice(0, -1)
    .map((one, index) => ({
      source: one.id,
      target: plan.milestones[index + 1]!.id,
      minutes: minutesIn(ends[index]!) ?? undefined,
      was: one.transitionCondition?.intervalMinutes,
    }))
    .filter(({ minutes, was }) => minutes !== was)

/** The safeguards that a plan gets, and the ids of those that it loses. */
export function changedSafeguards({ safeguards = [] }: Pick<Plan, 'safeguards'>, drafts: readonly SafeguardDraft[]) {
  const key = ({ signal, action }: SafeguardDraft) => `${action} ${signal.trim()}`
  const [had, has] = [safeguards.map(({ signal, action }) => key(safeguardDraft({ signal, action }))), drafts.map(key)]
  return { added: drafts.filter((one) => !had.includes(key(one))), removed: safeguards.filter((_, index) => !has.includes(had[index]!)).map(({ id }) => id) }
}

/** Whether a strategy is one of a plan. */
export const isOfPlan = (plan: Plan | undefined, strategy: string) =>
  plan !== undefined && plan.milestones.some(({ strategies }) => strategies?.some(({ id }) => id === strategy))
