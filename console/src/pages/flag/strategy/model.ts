import type { Schema } from '../../../api'
import { toRequest } from '../../../constraints/edit'
import type { VariantDraft } from '../variants/model'
import { draftOf, requestOf } from '../variants/model'

/** A strategy of a flag. */
export type Strategy = Schema<'Strategy'>
/** A type of strategies. */
export type StrategyType = Schema<'StrategyType'>
/** A parameter of a strategy type. */
export type Parameter = Schema<'StrategyParameter'>

/** Limits of the server: their defaults, which its settings can change. */
export const maxSegments = 5
export const maxTitle = 255

/** What the form of a strategy edits. Parameters that the type does not define are kept. */
export interface StrategyDraft {
  name: string
  title: string
  disabled: boolean
  parameters: Record<string, string>
  constraints: Schema<'Constraint'>[]
  segments: number[]
  variants: VariantDraft[]
}

/** A new strategy: everyone, by a gradual rollout. */
export function newStrategy(stickiness = 'default', rollout = 100): StrategyDraft {
  return {
    name: 'flexibleRollout',
    title: '',
    disabled: false,
    parameters: { rollout: String(rollout), stickiness },
    constraints: [],
    segments: [],
    variants: [],
  }
}

/** The form's values for a strategy that is stored, in a flag or as the default of a project. */
export function strategyDraft(strategy: Strategy | Schema<'DefaultStrategy'>): StrategyDraft {
  return {
    name: strategy.name,
    title: strategy.title ?? '',
    disabled: strategy.disabled,
    parameters: { ...strategy.parameters },
    constraints: strategy.constraints,
    segments: strategy.segments,
    variants: strategy.variants.map(draftOf),
  }
}

/** The body of a request for the draft. */
export function strategyRequest(draft: StrategyDraft): Schema<'NewStrategyRequest'> {
  return {
    name: draft.name,
    title: draft.title.trim() || null,
    disabled: draft.disabled,
    parameters: draft.parameters,
    constraints: toRequest(draft.constraints) as Schema<'ConstraintRequest'>[],
    segments: draft.segments,
    variants: draft.variants.map((variant) => {
      const { overrides, ...rest } = requestOf(variant)
      return { ...rest, stickiness: rest.stickiness ?? 'default', weightType: rest.weightType ?? 'variable' }
    }),
  }
}

/** A stored strategy as the body of a request that creates the same one. */
export function copyRequest(strategy: Strategy): Schema<'NewStrategyRequest'> {
  return strategyRequest(strategyDraft(strategy))
}

/** What two versions of a strategy are compared by: what a person can edit. */
export function comparable(strategy: Strategy) {
  const { id, featureName, ...rest } = strategy
  return rest
}

/** The values of a comma-separated list. */
export function listOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '')
}

/** The parameter that holds the percentage of a rollout, if the type has one. */
export function percentageName(strategy: Pick<Strategy, 'name'>): string | undefined {
  if (strategy.name === 'flexibleRollout') return 'rollout'
  return strategy.name.startsWith('gradualRollout') ? 'percentage' : undefined
}

/** The display name of a strategy type. */
export function typeName(name: string, types: readonly StrategyType[] | undefined): string {
  return types?.find((type) => type.name === name)?.displayName ?? name
}
