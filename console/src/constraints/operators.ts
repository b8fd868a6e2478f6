import type { Schema } from '../api'

/** A constraint as the API returns it. */
export type Constraint = Schema<'Constraint'>
/** The comparison of a constraint. */
export type Operator = Constraint['operator']
/** What an operator compares, which decides how its value is entered. */
export type Kind = 'text' | 'set' | 'number' | 'date' | 'semver' | 'regex' | 'network'

interface OperatorInfo {
  kind: Kind
  /** The comparison in the list of operators. */
  label: string
  /** The comparison in a sentence: "country is one of NO". */
  phrase: string
  /** The same for an inverted constraint. */
  inverted: string
  /** Whether there are SDKs that do not know the operator. */
  recent?: true
}

const info: Record<Operator, OperatorInfo> = {
  IN: { kind: 'set', label: 'is one of', phrase: 'is one of', inverted: 'is not one of' },
  NOT_IN: { kind: 'set', label: 'is not one of', phrase: 'is not one of', inverted: 'is one of' },
  STR_CONTAINS: { kind: 'text', label: 'contains', phrase: 'contains', inverted: 'does not contain' },
  STR_STARTS_WITH: { kind: 'text', label: 'starts with', phrase: 'starts with', inverted: 'does not start with' },
  STR_ENDS_WITH: { kind: 'text', label: 'ends with', phrase: 'ends with', inverted: 'does not end with' },
  REGEX: { kind: 'regex', label: 'matches the pattern', phrase: 'matches the pattern', inverted: 'does not match the pattern', recent: true },
  NUM_EQ: { kind: 'number', label: '= equals', phrase: 'is equal to', inverted: 'is not equal to' },
  NUM_GT: { kind: 'number', label: '> greater than', phrase: 'is greater than', inverted: 'is not greater than' },
  NUM_GTE: { kind: 'number', label: '≥ at least', phrase: 'is at least', inverted: 'is not at least' },
  NUM_LT: { kind: 'number', label: '< less than', phrase: 'is less than', inverted: 'is not less than' },
  NUM_LTE: { kind: 'number', label: '≤ at most', phrase: 'is at most', inverted: 'is not at most' },
  DATE_AFTER: { kind: 'date', label: 'is after', phrase: 'is after', inverted: 'is not after' },
  DATE_BEFORE: { kind: 'date', label: 'is before', phrase: 'is before', inverted: 'is not before' },
  SEMVER_EQ: { kind: 'semver', label: '= version', phrase: 'is version', inverted: 'is not version' },
  SEMVER_GT: { kind: 'semver', label: '> newer than', phrase: 'is newer than version', inverted: 'is not newer than version' },
  SEMVER_GTE: { kind: 'semver', label: '≥ at least', phrase: 'is at least version', inverted: 'is not at least version', recent: true },
  SEMVER_LT: { kind: 'semver', label: '< older than', phrase: 'is older than version', inverted: 'is not older than version' },
  SEMVER_LTE: { kind: 'semver', label: '≤ at most', phrase: 'is at most version', inverted: 'is not at most version', recent: true },
  IN_CIDR: { kind: 'network', label: 'is in the network', phrase: 'is in the network', inverted: 'is not in the network', recent: true },
}

const kindLabels: Record<Kind, string> = {
  set: 'List',
  text: 'Text',
  regex: 'Regular expression',
  number: 'Number',
  date: 'Date',
  semver: 'Version',
  network: 'IP address',
}

/** All operators by kind, as choices. */
export const operatorChoices = (Object.keys(kindLabels) as Kind[]).flatMap((kind) =>
  (Object.keys(info) as Operator[])
    .filter((operator) => info[operator].kind === kind)
    .map((value) => ({ value, label: info[value].label, note: kindLabels[kind] })),
)

/** How SDKs evaluate a constraint differently, or undefined (docs/reference/sdk-behavior.md). */
export function sdkNote({ contextName, operator }: Constraint): string | undefined {
  if (isRecent(operator)) return 'Older SDKs do not know this operator, and switch the strategy off.'
  if (kindOf(operator) === 'date' && !['', 'currentTime'].includes(contextName))
    return 'The SDKs for Node.js and Next.js compare the current time, not this field.'
  return undefined
}

/** Whether there are SDKs that do not know the operator. */
export const isRecent = (operator: Operator) => info[operator]?.recent ?? false

/** What the operator compares. */
export const kindOf = (operator: Operator): Kind => info[operator]?.kind ?? 'set'

/** An operator in a message, in quotes: '“is at least version”'. A text that is none stays as it is. */
export const operatorName = (operator: string) => (info[operator as Operator] ? `“${info[operator as Operator].phrase}”` : operator)

/** Whether the operator compares with a list of values. The others compare with one value. */
export const takesList = (operator: Operator) => ['set', 'text', 'network'].includes(kindOf(operator))

/** Whether the operator can ignore case. */
export const canIgnoreCase = (operator: Operator) => ['text', 'regex'].includes(kindOf(operator))

/** The comparison of a constraint in words, inverted if the constraint is. */
export const phraseOf = ({ operator, inverted }: Pick<Constraint, 'operator' | 'inverted'>) => info[operator]?.[inverted ? 'inverted' : 'phrase'] ?? operator
