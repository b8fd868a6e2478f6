// Request and results of the playground.
import type { Schema } from '../../api'
import { describeConstraint } from '../../constraints/describe'
import { bucket } from '../flag/strategy/bucket'
import { parentText, stickinessOf } from '../flag/strategy/describe'
import { strategyName } from '../../words/names'
import { percentageName } from '../flag/strategy/model'

type Evaluated = Schema<'AdvancedPlaygroundFeature'>
type Feature = Schema<'PlaygroundEnvironmentFeature'>
type Strategy = Schema<'PlaygroundStrategy'>

/** One field of the context, as it is edited. */
export interface ContextEntry {
  name: string
  value: string
}

/** What is evaluated. */
export interface Question {
  environments: string[]
  /** Empty for all. */
  projects: string[]
  context: ContextEntry[]
}

const standard = ['appName', 'userId', 'sessionId', 'remoteAddress', 'currentTime', 'environment']

/** The body of the request: standard fields, and the others as properties. The server needs appName. */
export function requestOf({ environments, projects, context }: Question) {
  const given = context.filter(({ name, value }) => name.trim() !== '' && value !== '')
  const pick = (wanted: boolean) =>
    Object.fromEntries(
      given.filter(({ name }) => standard.includes(name.trim()) === wanted).map(({ name, value }) => [name.trim(), value.replace(/\s*,\s*/g, ',')]),
    )
  return {
    environments,
    projects: projects.length === 0 ? ('*' as const) : projects,
    context: { appName: 'playground', ...pick(true), properties: pick(false) },
  }
}

/** The context as a text for the address: 'userId=7&plan=gold'. */
export function contextText(context: readonly ContextEntry[]): string {
  const given = context.filter(({ name }) => name.trim() !== '')
  return new URLSearchParams(given.map(({ name, value }) => [name.trim(), value])).toString()
}

/** The context of such a text. */
export function parseContext(text: string): ContextEntry[] {
  return [...new URLSearchParams(text)].slice(0, 100).map(([name, value]) => ({ name, value }))
}

/** Names of an address that are between commas. */
export const parseNames = (text: string) => text.split(',').filter(Boolean).slice(0, 100)

/** The fields of a context that tell it apart from the others: 'userId 7'. */
export function whoOf(context: Context, fields: readonly string[]): string {
  return fields.map((field) => `${field} ${typeof context[field] === 'string' ? context[field] : JSON.stringify(context[field])}`).join(', ')
}

/** The fields of a question that have several values. */
export const severalOf = ({ context }: Question) => context.filter(({ value }) => value.includes(',')).map(({ name }) => name.trim())

/** The result of the parent that keeps a flag off, among the evaluated flags: the users of all results are in the same order. */
export function decidingParent(flags: readonly Evaluated[], feature: Feature, user: number): Feature | undefined {
  const parent = feature.unsatisfiedDependency && flags.find(({ name }) => name === feature.unsatisfiedDependency!.feature)
  return parent?.environments[feature.environment]?.[user]
}

/** Why a flag is on or off for a context: what decided it, in one sentence, with that of the parent that did. */
export function reasonOf(feature: Feature, parent?: Feature): string {
  const { strategies, context } = feature
  const active = strategies.data.filter((one) => !one.disabled)
  if (!feature.isEnabledInCurrentEnvironment) {
    return strategies.data.length > 0 && active.length === 0 ? 'All strategies are disabled.' : 'Switched off.'
  }
  const unmet = feature.unsatisfiedDependency
  if (unmet) {
    const needed = `On only where ${parentText(unmet)}`
    if (!parent) return `${needed}, which is not the case here.`
    const variant = parent.isEnabled && parent.variant.enabled ? ` with ${parent.variant.name}` : ''
    return `${needed}. It is ${parent.isEnabled ? 'on' : 'off'}${variant}: ${reasonOf(parent)}`
  }
  if (feature.isEnabled) {
    const match = strategies.data.find((one) => one.result.enabled === true)
    if (!match) return 'On for everyone: it has no strategy.'
    const place = placeText(match, context)
    return place ? `${nameOf(match)} matches: ${place}.` : `${nameOf(match)} matches.`
  }
  if (strategies.result === 'unknown') return 'No strategy matches here. Only an application can evaluate some of them.'
  return active.length === 1 ? reasonOfStrategy(active[0]!, context) : `None of the ${active.length} strategies matches.`
}

/** The name that people know a strategy by. */
export const nameOf = (strategy: Strategy) => strategy.title || strategyName(strategy.name)

type Context = Readonly<Record<string, unknown>>

/** The reason of a strategy that matches without a percentage. */
export const matches = 'It matches.'

/** Why a strategy matches a context or not, in one sentence. */
export function reasonOfStrategy(strategy: Strategy, context: Context = {}): string {
  const { result, constraints, segments } = strategy
  if (result.evaluationStatus === 'unevaluated') return 'It is disabled, so it is ignored.'
  const failed = [
    ...constraints.filter((one) => !one.result).map((one) => `it applies only if ${needs(one, context)}`),
    ...segments.filter((one) => !one.result).map((one) => outside(one, context)),
  ]
  if (failed.length > 0) {
    const more = failed.length - 1
    return upper(`${failed[0]}${more === 0 ? '' : `; ${more} more ${more === 1 ? 'condition does' : 'conditions do'} not hold`}.`)
  }
  if (result.evaluationStatus === 'incomplete') return 'Only an application can evaluate it, so it counts as off here.'
  const place = placeText(strategy, context)
  if (place) return upper(`${place}.`)
  if (result.enabled === true) return matches
  const field = percentageName(strategy) && stickinessOf(strategy)
  if (field && field !== 'default' && field !== 'random') return `The context has no ${field}, by which the rollout decides.`
  return 'The context lacks a value that its parameters need.'
}

const upper = (text: string) => (/^it /.test(text) || /^the /.test(text) || /^without /.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text)

const needs = (constraint: Strategy['constraints'][number], context: Context) =>
  `${describeConstraint(constraint)}, but ${comparedText(constraint.contextName, context)}`

function outside(segment: Strategy['segments'][number], context: Context): string {
  const failed = segment.constraints.find((one) => !one.result)
  return failed ? `it applies only in the segment ${segment.name}, if ${needs(failed, context)}` : 'it applies only in a segment that does not exist'
}

const maxValue = 60

/** The value that was compared: 'plan is gold', or that there is none. */
export function comparedText(name: string, context: Context): string {
  const value = context[name]
  if (typeof value === 'string' && value !== '') return `${name} is ${value.length > maxValue ? `${value.slice(0, maxValue)}…` : value}`
  if (name === 'currentTime') return 'the time is now'
  return name === 'environment' ? 'environment is default' : `the context has no ${name}`
}

/** Where a context is in the rollout of a strategy: 'userId 7 has place 74 of 100, outside the rollout of 50%'. Undefined if no one is left out. */
export function placeText(strategy: Strategy, context: Context): string | undefined {
  const percentage = strategy.parameters[percentageName(strategy) ?? '']
  if (percentage === undefined || percentage === '100') return undefined
  const stickiness = stickinessOf(strategy)
  const names = stickiness === 'default' ? ['userId', 'sessionId'] : [stickiness]
  const field = names.find((name) => typeof context[name] === 'string' && context[name] !== '')
  if (!field || stickiness === 'random') {
    if (stickiness !== 'default' && stickiness !== 'random') return undefined
    return `without ${stickiness === 'random' ? 'stickiness' : 'userId and sessionId'} it is decided at random each time, for ${percentage}%`
  }
  const place = bucket(strategy.parameters.groupId ?? '', String(context[field]))
  return `${field} ${String(context[field]).slice(0, maxValue)} has place ${place} of 100, ${place <= Number(percentage) ? 'inside' : 'outside'} the rollout of ${percentage}%`
}
