import type { Schema } from '../api'
import { canIgnoreCase, kindOf, takesList, type Constraint, type Operator } from './operators'

/** Limits of the server: their defaults, which its settings can change. */
export const maxConstraints = 30
export const maxValues = 250
export const maxValueLength = 100

/** Fields that SDKs have in every context, defined or not. */
export const standardFields = ['appName', 'currentTime', 'environment', 'remoteAddress', 'sessionId', 'userId']

/** A new constraint, which compares with a list. */
export function newConstraint(contextName = ''): Constraint {
  return { contextName, operator: 'IN', values: [], inverted: false, caseInsensitive: false }
}

/** The constraint with another operator. It keeps the value if the new operator compares with the same kind. */
export function withOperator(constraint: Constraint, operator: Operator): Constraint {
  const next: Constraint = { ...constraint, operator, caseInsensitive: constraint.caseInsensitive && canIgnoreCase(operator) }
  if (takesList(operator)) {
    delete next.value
    return next
  }
  next.values = []
  if (kindOf(operator) !== kindOf(constraint.operator)) next.value = ''
  return next
}

/** The constraint on another field. A new constraint also gets the operator that suits the field. */
export function withField(constraint: Constraint, contextName: string): Constraint {
  const next = { ...constraint, contextName }
  if (constraint.values.length > 0 || constraint.value) return next
  if (contextName === 'currentTime' && kindOf(constraint.operator) !== 'date') return withOperator(next, 'DATE_AFTER')
  if (contextName !== 'currentTime' && constraint.contextName === 'currentTime') return withOperator(next, 'IN')
  return next
}

/** The list with the texts added, each value once and without spaces around it. */
export function addValues(values: readonly string[], texts: readonly string[]): string[] {
  return [...new Set([...values, ...texts.map((text) => text.trim()).filter((text) => text !== '')])]
}

/**
 * Splits a typed or pasted text into values: at line breaks and tabs if it has any, else at commas and semicolons.
 * A value in double quotes keeps its separators: "Oslo, Norway".
 */
export function splitValues(text: string): string[] {
  const separator = /[\n\r\t]/.test(text) ? /[\n\r\t]/ : /[,;]/
  const values: string[] = []
  let value = ''
  let quoted = false
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i)
    if (char === '"' && quoted && text.charAt(i + 1) === '"') {
      value += '"'
      i++
    } else if (char === '"' && (quoted || value.trim() === '')) {
      quoted = !quoted
    } else if (!quoted && separator.test(char)) {
      values.push(value)
      value = ''
    } else {
      value += char
    }
  }
  values.push(value)
  return values.map((one) => one.trim().replace(/[,;]$/, '').trim()).filter((one) => one !== '')
}

/** The value of a datetime-local input, in the time zone of the browser; '' if the value is no date. */
export function toLocalInput(value: string): string {
  const date = new Date(value)
  if (!value || Number.isNaN(date.getTime())) return ''
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}

/** The value that is stored for a datetime-local input: a date-time in UTC. */
export function fromLocalInput(text: string): string {
  const date = new Date(text)
  return text && !Number.isNaN(date.getTime()) ? date.toISOString() : ''
}

/** The constraints as a request has them: without values that their operators ignore. */
export function toRequest(constraints: readonly Constraint[]): Schema<'ConstraintRequest'>[] {
  return constraints.map(({ value, values, ...rest }) => {
    const sent = takesList(rest.operator) ? { ...rest, values } : { ...rest, values: [], value: value ?? '' }
    return sent as Schema<'ConstraintRequest'>
  })
}
