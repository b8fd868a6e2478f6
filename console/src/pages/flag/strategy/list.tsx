import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { apiQuery } from '../../../api'
import { useAskedChange } from '../atonce'
import type { Flag, FlagEnvironment } from '../data'
import { isOfPlan, type Plan } from '../plan/model'
import { StrategyCard } from './card'
import { idsOf, useReorder } from './changes'

interface StrategyListProps {
  flag: Flag
  environment: FlagEnvironment
  /** Its strategies change with it only. */
  plan?: Plan
  onEdit: (strategy: string) => void
  /** What the caller's draft changes of a strategy. */
  draftedFor: (strategyId: string) => ReactNode
}

/** The strategies of a flag in an environment, in their order. */
export function StrategyList({ flag, environment, plan, onEdit, draftedFor }: StrategyListProps) {
  const types = useQuery({ ...apiQuery('/api/admin/strategies'), staleTime: 60_000 }).data?.strategies
  const names = useSegmentNames()
  const reorder = useReorder(flag, environment)
  const [ask, question] = useAskedChange(flag)
  const [said, setSaid] = useState('')
  const [moved, setMoved] = useState<{ id: string; by: number }>()
  const box = useRef<HTMLOListElement>(null)
  const strategies = environment.strategies

  // A button that is moved in the document loses the focus.
  useEffect(() => {
    if (!moved) return
    const card = box.current?.querySelector(`[data-strategy="${CSS.escape(moved.id)}"]`)
    const usable = (name: string) => card?.querySelector<HTMLElement>(`[data-move="${name}"]:not([aria-disabled])`)
    const button = moved.by < 0 ? (usable('up') ?? usable('down')) : (usable('down') ?? usable('up'))
    button?.focus()
  }, [moved, strategies])

  const move = (index: number, by: number) => {
    const before = idsOf(strategies)
    const id = before[index]!
    const ids = before.toSpliced(index, 1).toSpliced(index + by, 0, id)
    const act = () => {
      reorder.mutate({ ids, before })
      setMoved({ id, by })
      setSaid(`Moved to position ${index + by + 1} of ${strategies.length}.`)
    }
    // The first strategy that applies gives its variants. Without variants the order is only for the eye.
    if (!strategies.some((one) => one.variants.length > 0)) return act()
    const details = <p>Who matches several strategies gets the variants of the first one.</p>
    ask(environment, { what: 'Change the order of the strategies', action: 'Change the order', details, act })
  }
  return (
    <>
      <ol className="lines" ref={box} aria-label={`Strategies in ${environment.name}`}>
        {strategies.map((strategy, index) => (
          <li key={strategy.id} data-strategy={strategy.id}>
            <StrategyCard
              flag={flag}
              environment={environment}
              strategy={strategy}
              index={index}
              types={types}
              segmentNames={names}
              plan={isOfPlan(plan, strategy.id) ? plan : undefined}
              onEdit={() => onEdit(strategy.id)}
              drafted={draftedFor(strategy.id)}
              onMove={(by) => move(index, by)}
            />
          </li>
        ))}
      </ol>
      <span className="visually-hidden" role="status">
        {said}
      </span>
      {question}
    </>
  )
}

/** The names of all segments by id. */
export function useSegmentNames(): ReadonlyMap<number, string> {
  return new Map(useSegments().map((segment) => [segment.id, segment.name]))
}

/** All segments. */
export function useSegments() {
  return useQuery({ ...apiQuery('/api/admin/segments'), staleTime: 60_000 }).data?.segments ?? []
}
