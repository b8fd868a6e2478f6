import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Schema } from '../../api'
import { describeConstraint } from '../../constraints'
import { Badge, Dialog, Icons, number } from '../../ui'
import { EnvironmentName } from '../../ui/environmentname'
import { comparedText, decidingParent, matches, nameOf, placeText, reasonOf, reasonOfStrategy, whoOf } from './playgrounddata'

type Flag = Schema<'AdvancedPlaygroundFeature'>
type Result = Schema<'PlaygroundEnvironmentFeature'>

const shown = 20

interface ResultDialogProps {
  feature: Flag
  /** All flags that were evaluated: a parent decides, too. */
  flags: readonly Flag[]
  /** In the order in which they are shown. */
  environments: readonly string[]
  /** The fields that tell users apart. */
  several: readonly string[]
  onClose: () => void
}

/** Why a flag is on or off, for each environment and context. */
export function ResultDialog({ feature, flags, environments, several, onClose }: ResultDialogProps) {
  const results = environments.flatMap((environment) => (feature.environments[environment] ?? []).map((result, user) => ({ result, user })))
  return (
    <Dialog open onClose={onClose} title={feature.name} sheet>
      <div className="stack">
        <p>
          <Link to="/projects/$projectId/flags/$flag" params={{ projectId: feature.projectId, flag: feature.name }}>
            Open the flag
          </Link>
        </p>
        {results.slice(0, shown).map(({ result, user }, index) => (
          <section key={index} className="playground-result" aria-label={`Result in ${result.environment}`}>
            <div className="row">
              <OnOff result={result} />
              <h3>
                <EnvironmentName name={result.environment} />
              </h3>
              {several.length > 0 && <span className="soft break">{whoOf(result.context, several)}</span>}
            </div>
            <ResultDetails flags={flags} result={result} user={user} />
          </section>
        ))}
        {results.length > shown && <p className="soft">{number(results.length - shown)} more results are not shown. Choose fewer environments or values.</p>}
      </div>
    </Dialog>
  )
}

const OnOff = ({ result }: { result: Result }) => <Badge kind={result.isEnabled ? 'ok' : 'neutral'}>{result.isEnabled ? 'On' : 'Off'}</Badge>

// What decided, with the evaluation of the parent if that did, and the strategies.
function ResultDetails({ flags, result, user }: { flags: readonly Flag[]; result: Result; user: number }) {
  const parent = decidingParent(flags, result, user)
  // The strategy that matches comes first.
  const strategies = [...result.strategies.data].sort((a, b) => Number(b.result.enabled === true) - Number(a.result.enabled === true))
  return (
    <>
      <p className="strong break">{reasonOf(result)}</p>
      {parent && (
        <section className="playground-parent" aria-label={`Parent ${parent.name}`}>
          <div className="row">
            <OnOff result={parent} />
            <Link to="/projects/$projectId/flags/$flag" params={{ projectId: parent.projectId, flag: parent.name }} className="strong break">
              {parent.name}
            </Link>
          </div>
          <ResultDetails flags={flags} result={parent} user={user} />
        </section>
      )}
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
      {strategies.length > 0 && (
        <div className="lines">
          {strategies.map((strategy) => (
            <StrategyDetails key={strategy.id} strategy={strategy} context={result.context} told={reasonOf(result)} />
          ))}
        </div>
      )}
    </>
  )
}

interface StrategyDetailsProps {
  strategy: Schema<'PlaygroundStrategy'>
  context: Result['context']
  /** What the result says already. */
  told: string
}

function StrategyDetails({ strategy, context, told }: StrategyDetailsProps) {
  const { enabled } = strategy.result
  const reason = reasonOfStrategy(strategy, context)
  const place = placeText(strategy, context)
  const failed = [...strategy.constraints, ...strategy.segments].some((one) => !one.result)
  return (
    <div className="playground-strategy">
      <div className="row">
        <span className="strong break">{nameOf(strategy)}</span>
        <span className={enabled === true ? 'playground-yes' : 'soft'}>
          {strategy.disabled ? 'Disabled' : enabled === true ? 'Matches' : enabled === 'unknown' ? 'Unknown' : 'Does not match'}
        </span>
      </div>
      {!failed && reason !== told && reason !== matches && !(place && told.includes(place)) && <p className="soft break">{reason}</p>}
      <Checks constraints={strategy.constraints} segments={strategy.segments} context={context} />
    </div>
  )
}

type Strategy = Schema<'PlaygroundStrategy'>

interface ChecksProps extends Partial<Pick<Strategy, 'constraints' | 'segments'>> {
  context: Result['context']
}

// The conditions, those that do not hold first.
function Checks({ constraints = [], segments = [], context }: ChecksProps) {
  if (constraints.length + segments.length === 0) return null
  const failedFirst = <T extends { result: boolean }>(list: readonly T[]) => [...list].sort((a, b) => Number(a.result) - Number(b.result))
  return (
    <ul className="stack-s">
      {failedFirst(constraints).map((constraint, index) => (
        <Check key={index} holds={constraint.result}>
          {describeConstraint(constraint)} <span className="soft">({comparedText(constraint.contextName, context)})</span>
        </Check>
      ))}
      {failedFirst(segments).map((segment) => (
        <Check key={segment.id} holds={segment.result}>
          in the segment{' '}
          <Link to="/segments/$id" params={{ id: String(segment.id) }}>
            {segment.name}
          </Link>
          <Checks constraints={segment.constraints} context={context} />
        </Check>
      ))}
    </ul>
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
