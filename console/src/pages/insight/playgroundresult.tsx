import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Schema } from '../../api'
import { describeConstraint } from '../../constraints'
import { Badge, Dialog, Icons, number } from '../../ui'
import { EnvironmentName } from '../../ui/environmentname'
import { comparedText, nameOf, reasonOf, reasonOfStrategy } from './playgrounddata'

type Result = Schema<'PlaygroundEnvironmentFeature'>

const shown = 20

interface ResultDialogProps {
  feature: Schema<'AdvancedPlaygroundFeature'>
  /** In the order in which they are shown. */
  environments: readonly string[]
  onClose: () => void
}

/** Why a flag is on or off, for each environment and context. */
export function ResultDialog({ feature, environments, onClose }: ResultDialogProps) {
  const results = environments.flatMap((environment) => feature.environments[environment] ?? [])
  return (
    <Dialog open onClose={onClose} title={feature.name} wide>
      <div className="stack">
        <p>
          <Link to="/projects/$projectId/flags/$flag" params={{ projectId: feature.projectId, flag: feature.name }}>
            Open the flag
          </Link>
        </p>
        {results.slice(0, shown).map((result, index) => (
          <ResultDetails key={index} result={result} single={results.length === 1} />
        ))}
        {results.length > shown && <p className="soft">{number(results.length - shown)} more results are not shown. Choose fewer environments or values.</p>}
      </div>
    </Dialog>
  )
}

function ResultDetails({ result, single }: { result: Result; single: boolean }) {
  const context = Object.entries(result.context).filter(([name]) => name !== 'environment' && name !== 'appName')
  return (
    <section className="playground-result" aria-label={`Result in ${result.environment}`}>
      <div className="row">
        <Badge kind={result.isEnabled ? 'ok' : 'neutral'}>{result.isEnabled ? 'On' : 'Off'}</Badge>
        <h3>
          <EnvironmentName name={result.environment} />
        </h3>
        {!single && context.length > 0 && <span className="soft break">{context.map(([name, value]) => `${name} ${flat(value)}`).join(', ')}</span>}
      </div>
      <p className="strong break">{reasonOf(result)}</p>
      {result.isEnabled && result.variant.enabled && (
        <p className="break">
          Variant <Badge kind="accent">{result.variant.name}</Badge>
          {result.variant.payload && (
            <>
              {' '}
              with the payload <code>{result.variant.payload.value}</code>
            </>
          )}
        </p>
      )}
      {result.strategies.data.map((strategy) => (
        <StrategyDetails key={strategy.id} strategy={strategy} context={result.context} />
      ))}
    </section>
  )
}

const flat = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

function StrategyDetails({ strategy, context }: { strategy: Schema<'PlaygroundStrategy'>; context: Result['context'] }) {
  const { enabled } = strategy.result
  return (
    <div className="playground-strategy">
      <div className="row">
        <Badge kind={enabled === true ? 'ok' : enabled === 'unknown' ? 'warn' : 'neutral'}>
          {strategy.disabled ? 'Disabled' : enabled === true ? 'Matches' : enabled === 'unknown' ? 'Unknown' : 'Does not match'}
        </Badge>
        <span className="strong break">{nameOf(strategy)}</span>
      </div>
      <p className="soft break">{reasonOfStrategy(strategy, context)}</p>
      {(strategy.constraints.length > 0 || strategy.segments.length > 0) && (
        <ul className="stack-s">
          {strategy.constraints.map((constraint, index) => (
            <Check key={index} holds={constraint.result}>
              {describeConstraint(constraint)} <span className="soft">({comparedText(constraint.contextName, context)})</span>
            </Check>
          ))}
          {strategy.segments.map((segment) => (
            <Check key={segment.id} holds={segment.result}>
              in the segment{' '}
              <Link to="/segments/$id" params={{ id: String(segment.id) }}>
                {segment.name}
              </Link>
              {segment.constraints.length > 0 && (
                <ul className="stack-s playground-nested">
                  {segment.constraints.map((constraint, index) => (
                    <Check key={index} holds={constraint.result}>
                      {describeConstraint(constraint)} <span className="soft">({comparedText(constraint.contextName, context)})</span>
                    </Check>
                  ))}
                </ul>
              )}
            </Check>
          ))}
        </ul>
      )}
    </div>
  )
}

function Check({ holds, children }: { holds: boolean; children: ReactNode }) {
  return (
    <li className="playground-check">
      <span className={holds ? 'playground-yes' : 'playground-no'}>{holds ? <Icons.Check /> : <Icons.Close />}</span>
      <span className="visually-hidden">{holds ? 'Holds:' : 'Does not hold:'}</span>
      <div className="grow break">{children}</div>
    </li>
  )
}
