import { ConflictDialog } from '../../../ui/conflict'
import { describeStrategy } from './describe'
import { comparable, type StrategyDraft, type StrategyType } from './model'
import type { Conflict } from './save'

interface StrategyConflictProps {
  conflict: Conflict
  /** What the form has. */
  mine: StrategyDraft
  names: ReadonlyMap<number, string>
  types?: readonly StrategyType[]
  onClose: () => void
  onReload: () => void
  onOverwrite: () => void
  pending: boolean
}

/** Says that someone else changed the strategy, and shows what. */
export function StrategyConflict({ conflict, mine, names, types, ...actions }: StrategyConflictProps) {
  return (
    <ConflictDialog open noun="strategy" who={conflict.who} before={comparable(conflict.base)} after={comparable(conflict.latest.body)} {...actions}>
      <dl className="facts">
        <div>
          <dt>Stored now</dt>
          <dd className="break">{describeStrategy(conflict.latest.body, names, types)}</dd>
        </div>
        <div>
          <dt>Yours</dt>
          <dd className="break">{describeStrategy(mine, names, types)}</dd>
        </div>
      </dl>
    </ConflictDialog>
  )
}
