// Request and results of the playground.
import type { Schema } from '../../api'

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
    Object.fromEntries(given.filter(({ name }) => standard.includes(name.trim()) === wanted).map(({ name, value }) => [name.trim(), value]))
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

/** Why a flag is on or off for a context, in one sentence. */
export function reasonOf(feature: Feature): string {
  const { strategies, environment } = feature
  if (!feature.isEnabledInCurrentEnvironment) {
    return strategies.data.length > 0 && strategies.data.every((one) => one.disabled)
      ? `All strategies are disabled in ${environment}.`
      : `The flag is switched off in ${environment}.`
  }
  if (feature.hasUnsatisfiedDependency) return 'A parent flag is not in the required state.'
  if (feature.isEnabled) {
    const match = strategies.data.find((one) => one.result.enabled === true)
    return match ? `${nameOf(match)} matches.` : 'The flag is on, and has no strategy that limits it.'
  }
  if (strategies.result === 'unknown') return 'No strategy matches here. Only an application can evaluate some of them.'
  return strategies.data.length > 1 ? 'No strategy matches.' : 'The strategy does not match.'
}

/** The name that people know a strategy by. */
export const nameOf = (strategy: Strategy) => (strategy.title ? `Strategy “${strategy.title}”` : `Strategy ${strategy.name}`)

/** Why a strategy matches or not, in one sentence. */
export function reasonOfStrategy(strategy: Strategy): string {
  const { result, constraints, segments, parameters } = strategy
  if (result.evaluationStatus === 'unevaluated') return 'It is disabled, so it is ignored.'
  const failed = constraints.filter((one) => !one.result).length
  const outside = segments.filter((one) => !one.result).length
  if (failed > 0 || outside > 0) {
    return [
      failed > 0 && `${failed} of ${constraints.length} ${constraints.length === 1 ? 'constraint does' : 'constraints do'} not hold`,
      outside > 0 && `the context is not in ${outside === 1 ? 'a segment' : `${outside} segments`}`,
    ]
      .filter(Boolean)
      .join(', and ')
      .replace(/^./, (first) => first.toUpperCase())
      .concat('.')
  }
  if (result.evaluationStatus === 'incomplete') return 'Only an application can evaluate it, so it counts as off here.'
  const rollout = parameters.rollout
  const given = rollout === undefined ? '' : ` of ${rollout} %`
  if (result.enabled === true) return rollout === undefined || rollout === '100' ? 'It matches.' : `The context is in the rollout${given}.`
  return rollout === undefined ? 'The context lacks a value that its parameters need.' : `The context is not in the rollout${given}.`
}
