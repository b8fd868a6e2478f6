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
