// What a change of long lists does. The sentences about constraints and strategies name only the first values.
import { shownValues } from './describe'
import { phraseOf, takesList, type Constraint } from './operators'

const count = (values: readonly string[]) =>
  values.slice(0, shownValues).join(', ') + (values.length > shownValues ? ` and ${values.length - shownValues} more` : '')

/** The values that a list gained and lost: '+ competitor, − 5'; '' if there are none. */
export function listDifference(before: readonly string[], after: readonly string[]): string {
  const [old, now] = [new Set(before), new Set(after)]
  const added = [...now].filter((value) => !old.has(value))
  const removed = [...old].filter((value) => !now.has(value))
  return [added.length > 0 && `+ ${count(added)}`, removed.length > 0 && `− ${count(removed)}`].filter(Boolean).join(', ')
}

/** The same for a list that a sentence may cut, after its name; '' also for a short list, which the sentence names as a whole. */
export function longDifference(name: string, before: readonly string[], after: readonly string[]): string {
  const difference = Math.max(before.length, after.length) > shownValues ? listDifference(before, after) : ''
  return difference && `${name}: ${difference}`
}

const questionOf = (one: Constraint) => `${one.contextName} ${phraseOf(one)}`

/** What changed in the long lists of constraints: 'userId is one of: + competitor, − 5'. One can have become another of the same field. */
export function constraintDifferences(before: readonly Constraint[], after: readonly Constraint[]): string[] {
  const rest = before.filter(({ operator }) => takesList(operator))
  const lists = after.filter(({ operator }) => takesList(operator))
  const olds = new Map<Constraint, Constraint>()
  for (const partOf of [questionOf, ({ contextName }: Constraint) => contextName])
    for (const one of lists) {
      const index = olds.has(one) ? -1 : rest.findIndex((other) => partOf(other) === partOf(one))
      if (index >= 0) olds.set(one, rest.splice(index, 1)[0]!)
    }
  return lists.flatMap((one) => longDifference(questionOf(one), olds.get(one)?.values ?? one.values, one.values) || [])
}
