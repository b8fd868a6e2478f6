import { takesList, type Constraint } from '../../../constraints/operators'
import { constraintDifferences, longDifference } from '../../../constraints/difference'
import { variantDifferences } from '../variants/difference'
import { stickinessOf } from './describe'
import { listOf, percentageName, type StrategyDraft } from './model'

const lists = { userIds: 'Users', IPs: 'IP addresses', hostNames: 'Hosts' }

/** What changes in a strategy that applies, beside what describeStrategy says of it: a sentence for each. */
export function strategyDifferences(before: StrategyDraft, after: StrategyDraft, segmentNames: ReadonlyMap<number, string>): string[] {
  if (before.disabled || after.disabled || before.name !== after.name) return []
  const segments = ({ segments }: StrategyDraft) => segments.map((id) => segmentNames.get(id) ?? `#${id}`)
  return [
    ...rolloutDifferences(before, after),
    ...Object.entries(lists).map(([name, title]) => longDifference(title, listOf(before.parameters[name]), listOf(after.parameters[name]))),
    longDifference('Segments', segments(before), segments(after)),
    ...constraintDifferences(before.constraints, after.constraints),
    ...variantDifferences(before.variants, after.variants),
  ].filter(Boolean)
}

const within = (some: readonly string[], all: readonly string[]) => some.every((one) => all.includes(one))

/** Whether a constraint holds only where another one did. */
function demands(after: Constraint, before: Constraint): boolean {
  const rest = ({ values, ...one }: Constraint) => JSON.stringify(one)
  if (!takesList(after.operator)) return JSON.stringify(after) === JSON.stringify(before)
  if (rest(after) !== rest(before)) return false
  return (after.operator === 'NOT_IN') === after.inverted ? within(after.values, before.values) : within(before.values, after.values)
}

/** Whether someone can get a flag by a changed or new strategy who did not get it by the old one. */
export function widens(before: StrategyDraft | undefined, after: StrategyDraft): boolean {
  const share = ({ name, parameters }: StrategyDraft) => Number(parameters[percentageName({ name }) ?? ''] ?? 100)
  if (after.disabled || share(after) <= 0) return false
  if (!before || before.disabled || before.name !== after.name || share(before) < share(after)) return true
  if (share(after) < 100 && rolloutDifferences(before, after).some(Boolean)) return true
  const others = Object.keys(after.parameters).filter((name) => ![percentageName(after), 'groupId', 'stickiness'].includes(name))
  if (!others.every((name) => within(listOf(after.parameters[name]), listOf(before.parameters[name])))) return true
  if (!before.segments.every((id) => after.segments.includes(id))) return true
  return !before.constraints.every((old) => after.constraints.some((one) => demands(one, old)))
}

function rolloutDifferences(before: StrategyDraft, after: StrategyDraft): string[] {
  const percentage = percentageName(after)
  if (!percentage) return []
  const [from, to] = [before.parameters.groupId ?? '', after.parameters.groupId ?? '']
  const [old, now] = [stickinessOf(before), stickinessOf(after)]
  const share = Number(after.parameters[percentage])
  const others = (verb: string) => (share > 0 && share < 100 ? `, so other users ${verb} it` : '')
  return [
    from === to ? '' : `Group ID ${from || '(default)'} → ${to || '(default)'}${others('get')}`,
    old === now ? '' : `Stickiness ${old} → ${now}${others('may get')}`,
  ]
}
