import type { Schema } from '../../../api'
import { percent } from '../../../ui/format'

/** A variant as the API returns it. */
export type Variant = Schema<'Variant'>

/** The type of a flag's values. */
export type ValueType = NonNullable<Schema<'FeatureRow'>['valueType']>

/** The value types, with the type of the payloads that have them. */
export const valueTypes: { value: ValueType; label: string; payload: VariantDraft['payloadType'] }[] = [
  { value: 'boolean', label: 'Boolean', payload: 'json' },
  { value: 'string', label: 'Text', payload: 'string' },
  { value: 'integer', label: 'Whole number', payload: 'number' },
  { value: 'number', label: 'Number', payload: 'number' },
  { value: 'object', label: 'JSON', payload: 'json' },
]

/** A value as the text that a field has. */
export const valueText = (value: unknown): string => (typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value, null, 2))

/** The value of a text in a field. What is not JSON stays a text, and the server says what it should be. */
export function valueOf(type: ValueType, text: string): Schema<'Anything'> {
  try {
    return type === 'string' ? text : (JSON.parse(text) as Schema<'Anything'>)
  } catch {
    return text
  }
}

/** Limits of the server. */
export const maxVariants = 100
export const maxOverrides = 30
export const totalWeight = 1000

/** A variant in a form. The weight is a percentage with one decimal. */
export interface VariantDraft {
  /** Tells rows apart while names are typed. */
  key: number
  name: string
  fixed: boolean
  /** The percentage of a fixed weight; null while the field is empty. */
  percent: number | null
  payloadType: 'none' | 'string' | 'json' | 'csv' | 'number'
  payload: string
  stickiness: string
  overrides: { contextName: string; values: string[] }[]
}

let lastKey = 0

/** A new variant that shares the rest of the weight. */
export function newVariant(stickiness = 'default', name = '', type?: ValueType): VariantDraft {
  const payloadType = valueTypes.find(({ value }) => value === type)?.payload ?? 'none'
  return { key: ++lastKey, name, fixed: false, percent: null, payloadType, payload: type === 'boolean' ? 'true' : '', stickiness, overrides: [] }
}

/** The form's values for a variant that is stored. */
export function draftOf(variant: Variant): VariantDraft {
  return {
    key: ++lastKey,
    name: variant.name,
    fixed: variant.weightType === 'fix',
    percent: variant.weightType === 'fix' ? variant.weight / 10 : null,
    payloadType: (variant.payload?.type as VariantDraft['payloadType'] | undefined) ?? 'none',
    payload: variant.payload?.value ?? '',
    stickiness: variant.stickiness || 'default',
    overrides: variant.overrides?.map(({ contextName, values }) => ({ contextName, values })) ?? [],
  }
}

/** The body of a request for the draft. */
export function requestOf(draft: VariantDraft): Schema<'VariantRequest'> {
  return {
    name: draft.name.trim(),
    weight: draft.fixed ? Math.round((draft.percent ?? 0) * 10) : 0,
    weightType: draft.fixed ? 'fix' : 'variable',
    stickiness: draft.stickiness,
    ...(draft.payloadType === 'none' ? {} : { payload: { type: draft.payloadType, value: draft.payload } }),
    ...(draft.overrides.length ? { overrides: draft.overrides } : {}),
  }
}

/** The resulting weights in thousandths: fixed weights stay, the others share the rest evenly, the first ones get what remains. */
export function weights(drafts: readonly Pick<VariantDraft, 'fixed' | 'percent'>[]): number[] {
  const fixed = drafts.map((draft) => (draft.fixed ? Math.round((draft.percent ?? 0) * 10) : null))
  const rest = Math.max(0, totalWeight - fixed.reduce<number>((sum, weight) => sum + (weight ?? 0), 0))
  const sharing = fixed.filter((weight) => weight === null).length
  let index = 0
  return fixed.map((weight) => weight ?? Math.floor(rest / sharing) + (index++ < rest % sharing ? 1 : 0))
}

/** A weight in thousandths as a percentage. */
export const percentOf = (weight: number) => percent(weight / 10)

/** What keeps the list from being saved, as a sentence; '' if nothing does. */
export function weightProblem(drafts: readonly VariantDraft[]): string {
  if (drafts.length === 0) return ''
  const fixed = drafts.reduce((sum, draft) => sum + (draft.fixed ? Math.round((draft.percent ?? 0) * 10) : 0), 0)
  if (drafts.every((draft) => draft.fixed)) return 'At least one variant must share the rest of the weight: clear “Fixed weight” for one of them.'
  if (fixed >= totalWeight) return `The fixed weights total ${percentOf(fixed)}. Together they must stay below 100%, so that the others get a share.`
  return ''
}

/** The text with the line breaks of formatted JSON; undefined if it is not JSON. */
export function formatJson(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return undefined
  }
}

const token = /\s*([{}[\],:]|"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/uy

/** Where a text stops being JSON, and what is expected there; undefined if it is JSON. Browsers do not all say where. */
export function jsonProblem(text: string): string | undefined {
  const open: string[] = []
  let at = 0
  let next: 'value' | 'item' | 'key' | 'field' | 'colon' | 'end' = 'value'
  for (;;) {
    token.lastIndex = at
    const start = token.exec(text)?.[1]?.[0]
    if (start === undefined) break
    const value = next === 'value' || next === 'item'
    const closes = start === open.at(-1) && (next === 'end' || next === 'item' || next === 'field')
    if (closes) open.pop()
    if (closes) next = 'end'
    else if (value && start === '{') next = (open.push('}'), 'field')
    else if (value && start === '[') next = (open.push(']'), 'item')
    else if (value && !'}],:'.includes(start)) next = 'end'
    else if ((next === 'key' || next === 'field') && start === '"') next = 'colon'
    else if (next === 'colon' && start === ':') next = 'value'
    else if (next === 'end' && start === ',' && open.length > 0) next = open.at(-1) === '}' ? 'key' : 'value'
    else break
    at = token.lastIndex
  }
  const rest = text.slice(at).trimStart()
  if (next === 'end' && open.length === 0 && rest === '') return undefined
  const lines = text.slice(0, text.length - rest.length).split('\n')
  const end = open.length > 0 ? `a comma or ${open.at(-1)}` : 'the end'
  const expected = { value: 'a value', item: 'a value', key: 'a name in quotes', field: 'a name in quotes', colon: 'a colon', end }[next]
  return `Line ${lines.length}, column ${lines.at(-1)!.length + 1}: ${expected} is expected.`
}
