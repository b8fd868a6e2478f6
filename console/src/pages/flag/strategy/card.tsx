import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ConstraintSummary } from '../../../constraints'
import { ActionMenu, Badge, IconButton, Icons, ProductionMark, Row, type MenuEntry } from '../../../ui'
import { GoesOff, useAskedChange } from '../atonce'
import { useReasons, type Flag, type FlagEnvironment } from '../data'
import { OfPlan } from '../plan/finish'
import type { Plan } from '../plan/model'
import { WeightBar } from '../variants/weightbar'
import { expectAsked, switchesOff, useCopy, useDisable, useRemove } from './changes'
import { describeStickiness, describeStrategy } from './describe'
import { percentageName, typeName, type Strategy, type StrategyType } from './model'

interface StrategyCardProps {
  flag: Flag
  environment: FlagEnvironment
  strategy: Strategy
  index: number
  /** The release plan that has put it there, and changes it. */
  plan?: Plan
  types: readonly StrategyType[] | undefined
  segmentNames: ReadonlyMap<number, string>
  onEdit: () => void
  drafted: ReactNode
  onMove: (by: number) => void
}

/** A strategy: whom it selects, and what can be done with it. */
export function StrategyCard({ flag, environment, strategy, index, plan, types, segmentNames, onEdit, drafted, onMove }: StrategyCardProps) {
  const reason = useReasons(flag)('UPDATE_FEATURE_STRATEGY', environment.name)
  const sentence = describeStrategy(strategy, segmentNames, types)
  const [entries, question] = useEntries(flag, environment, strategy, sentence)
  const count = environment.strategies.length
  const name = strategy.title || typeName(strategy.name, types)
  const which = count > 1 ? `strategy ${index + 1} in ${environment.name}` : `strategy in ${environment.name}`
  const percentage = percentageName(strategy)
  const or = index > 0 && <span className="strategy-or">or </span>
  return (
    <>
      <Row
        label={`Strategy ${index + 1}: ${name}`}
        title={
          strategy.title && (
            <>
              {or}
              {strategy.title}
            </>
          )
        }
        sentence={
          <>
            {!strategy.title && or}
            {sentence.replace(/\.$/, '')}
          </>
        }
        note={plan ? <OfPlan flag={flag} environment={environment} plan={plan} /> : drafted}
        percent={percentage ? Number(strategy.parameters[percentage] ?? 0) : undefined}
        marks={strategy.disabled && <Badge>Disabled</Badge>}
        soft={strategy.disabled}
        actions={
          !plan && (
            <>
              {count > 1 && (
                <span className="strategy-moves">
                  <IconButton
                    size="small"
                    label={`Move ${which} up`}
                    data-move="up"
                    icon={<Icons.Up />}
                    disabledReason={reason ?? (index === 0 ? 'It is the first strategy.' : undefined)}
                    onClick={() => onMove(-1)}
                  />
                  <IconButton
                    size="small"
                    label={`Move ${which} down`}
                    data-move="down"
                    icon={<Icons.Down />}
                    disabledReason={reason ?? (index === count - 1 ? 'It is the last strategy.' : undefined)}
                    onClick={() => onMove(1)}
                  />
                </span>
              )}
              <IconButton size="small" label={`Edit ${which}`} icon={<Icons.Edit />} disabledReason={reason} onClick={onEdit} />
              <ActionMenu label={`More actions for ${which}`} entries={entries} />
            </>
          )
        }
        details={
          <>
            <p className="soft">
              {typeName(strategy.name, types)}. {describeStickiness(strategy)}
            </p>
            {strategy.segments.length > 0 && (
              <p className="row">
                <span className="soft">In {strategy.segments.length > 1 ? 'all segments' : 'segment'}</span>
                {strategy.segments.map((id) => (
                  <Link key={id} to="/segments/$id" params={{ id: String(id) }} className="break">
                    {segmentNames.get(id) ?? `#${id}`}
                  </Link>
                ))}
              </p>
            )}
            {strategy.constraints.length > 0 && <ConstraintSummary constraints={strategy.constraints} />}
            {strategy.variants.length > 0 && <WeightBar variants={strategy.variants} label={`Variants of ${which}`} />}
          </>
        }
      />
      {question}
    </>
  )
}

function useEntries(flag: Flag, environment: FlagEnvironment, strategy: Strategy, sentence: string): [MenuEntry[], ReactNode] {
  const reason = useReasons(flag)
  const disable = useDisable(flag, environment)
  const copy = useCopy(flag)
  const remove = useRemove(flag, environment)
  const [ask, question] = useAskedChange(flag)
  const targets = [environment, ...flag.environments.filter((one) => one.name !== environment.name)]
  const audience = (
    <p>
      The strategy: <span className="strong break">{sentence}</span>
      {strategy.disabled && ' It is disabled.'}
    </p>
  )
  const check = () => expectAsked(flag, environment)
  const withoutIt = (
    <>
      {audience}
      {switchesOff(environment, strategy) && <GoesOff flag={flag} />}
    </>
  )
  const entries: MenuEntry[] = [
    {
      label: strategy.disabled ? 'Enable' : 'Disable',
      icon: strategy.disabled ? <Icons.Play /> : <Icons.Minus />,
      onSelect: () => {
        const action = strategy.disabled ? 'Enable' : 'Disable'
        const act = () => disable.mutate({ strategy, disabled: !strategy.disabled })
        ask(environment, { what: `${action} the strategy`, action, danger: !strategy.disabled, details: strategy.disabled ? audience : withoutIt, check, act })
      },
      disabledReason: reason('UPDATE_FEATURE_STRATEGY', environment.name),
    },
    ...targets.map((target): MenuEntry => {
      const duplicate = target.name === environment.name
      return {
        label: duplicate ? (
          'Duplicate'
        ) : (
          <>
            Copy to {target.name} <ProductionMark type={target.type} />
          </>
        ),
        icon: <Icons.Copy />,
        onSelect: () =>
          ask(target, {
            what: 'Add a copy of the strategy',
            action: duplicate ? 'Duplicate' : 'Copy',
            details: audience,
            check,
            act: () => copy.mutate({ strategy, to: target.name }),
          }),
        disabledReason: reason('CREATE_FEATURE_STRATEGY', target.name),
      }
    }),
    'separator',
    {
      label: 'Remove',
      icon: <Icons.Trash />,
      danger: true,
      onSelect: () =>
        ask(environment, { what: 'Remove the strategy', action: 'Remove', danger: true, details: withoutIt, check, act: () => remove.mutate(strategy) }),
      disabledReason: reason('DELETE_FEATURE_STRATEGY', environment.name),
    },
  ]
  return [entries, question]
}
