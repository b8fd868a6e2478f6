import type { Schema } from '../../api'
import { describeConstraints, toRequest } from '../../constraints'
import { plural } from '../../ui/format'

type Strategy = Schema<'DefaultStrategy'>

/** What a default strategy does, as a sentence. */
export function describeStrategy(strategy: Strategy): string {
  const conditions = [
    strategy.constraints.length > 0 && describeConstraints(strategy.constraints),
    strategy.segments.length > 0 && `they are in ${plural(strategy.segments.length, 'segment')}`,
  ].filter(Boolean)
  const sentence = `${whoGets(strategy)}${conditions.length ? `, if ${conditions.join(' and ')}` : ''}.`
  return strategy.title ? `${strategy.title}: ${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}` : sentence
}

/** The fields of the form of a default strategy. */
export interface StrategyValues {
  name: string
  title: string
  rollout: number | null
  stickiness: string
  disabled: boolean
  constraints: Strategy['constraints']
  segments: string[]
}

/** The fields of a stored default strategy, or of a new one that is on for everyone. */
export function valuesOf(strategy: Strategy | undefined, stickiness: string): StrategyValues {
  const parameters = (strategy?.parameters ?? {}) as Record<string, string>
  return {
    name: strategy?.name ?? 'flexibleRollout',
    title: strategy?.title ?? '',
    rollout: Number(parameters.rollout ?? 100),
    stickiness: parameters.stickiness ?? stickiness,
    disabled: strategy?.disabled ?? false,
    constraints: strategy?.constraints ?? [],
    segments: (strategy?.segments ?? []).map(String),
  }
}

/** The body of the request that stores the fields. It keeps the parameters and variants that the form does not show. */
export function requestWith(values: StrategyValues, before: Strategy | undefined): Schema<'NewStrategyRequest'> {
  const kept = before?.name === values.name ? before : undefined
  const rollout = values.name === 'flexibleRollout' ? { rollout: String(values.rollout ?? ''), stickiness: values.stickiness } : {}
  return {
    name: values.name,
    title: values.title.trim() || null,
    disabled: values.disabled,
    parameters: { ...kept?.parameters, ...rollout },
    constraints: toRequest(values.constraints),
    segments: values.segments.map(Number),
    variants: kept?.variants ?? [],
  } as Schema<'NewStrategyRequest'>
}

function whoGets({ name, parameters }: Strategy): string {
  if (name === 'default') return 'On for everyone'
  if (name !== 'flexibleRollout') return `Strategy ${name}`
  const { rollout = '100', stickiness = 'default' } = parameters as Record<string, string>
  if (rollout === '100') return 'On for everyone'
  return `On for ${rollout}% of users${stickiness === 'default' ? '' : `, by ${stickiness}`}`
}

/** A stored default strategy as the body of a request. */
export function requestOf(strategy: Strategy): Schema<'NewStrategyRequest'> {
  return { ...strategy, constraints: toRequest(strategy.constraints) } as Schema<'NewStrategyRequest'>
}
