import { kindOf, canIgnoreCase, phraseOf, takesList, type Constraint } from './operators'

/** How many values a sentence names before it counts the rest. */
export const shownValues = 3

/** A constraint as part of a sentence: 'country is one of NO, SE or 4 others'. */
export function describeConstraint(constraint: Constraint, shown = shownValues): string {
  const ignoringCase = constraint.caseInsensitive && canIgnoreCase(constraint.operator) ? ' (ignoring case)' : ''
  return `${constraint.contextName || 'a field'} ${phraseOf(constraint)} ${describeValue(constraint, shown)}${ignoringCase}`
}

/** Several constraints as part of a sentence, joined by 'and'. */
export function describeConstraints(constraints: readonly Constraint[], shown = shownValues): string {
  return constraints.map((constraint) => describeConstraint(constraint, shown)).join(', and ')
}

function describeValue(constraint: Constraint, shown: number): string {
  if (takesList(constraint.operator)) return describeList(constraint.values, shown)
  const value = constraint.value ?? ''
  if (value === '') return '…'
  return kindOf(constraint.operator) === 'date' ? describeDate(value) : value
}

function describeList(values: readonly string[], shown: number): string {
  if (values.length === 0) return '…'
  const rest = values.length - shown
  if (rest === 1) return describeList(values, shown + 1)
  if (rest > 1) return `${values.slice(0, shown).map(quote).join(', ')} or ${rest} others`
  const last = quote(values.at(-1) ?? '')
  return values.length === 1 ? last : `${values.slice(0, -1).map(quote).join(', ')} or ${last}`
}

// Quotes make values visible that are empty or that could be read as part of the sentence.
const quote = (value: string) => (value === '' || /[\s,]/.test(value) ? `“${value}”` : value)

/** A date as people read it, in UTC: '2026-01-31 12:00 UTC'. A date without a time stays as it is. */
export function describeDate(value: string): string {
  if (!value.includes('T')) return value
  const date = new Date(value)
  if (Number.isNaN(date.getTime())) return value
  return `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
