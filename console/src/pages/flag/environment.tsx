import { Link } from '@tanstack/react-router'
import { Suspense, lazy, useId, useState } from 'react'
import { useProtection } from '../../requests/drafts'
import { useFreeze } from '../../requests/freeze'
import { ProtectionLine } from '../../requests/line'
import { Badge, Button, Icons, Switch, UnnamedProduction, isProduction, useAskedSwitch, words } from '../../ui'
import { useDrafted } from '../requests/drafted'
import { useProject, useReasons, type Flag, type FlagEnvironment } from './data'
import FirstStrategyDialog from './firststrategy'
import { PlanCard } from './plan/card'
import { usePlan } from './plan/data'
import { Affected } from './strategy/affected'
import { describeStandard, parentText } from './strategy/describe'
import { StrategyList, useSegmentNames } from './strategy/list'
import { useSwitch } from './switch'
import { LastUse, UnknownOperators } from './use'
import { percentOf } from './variants/model'

const NotOffDialog = lazy(() => import('./notoff'))

interface PanelProps {
  flag: Flag
  environment: FlagEnvironment
  /** Opens the editor of a strategy: 'new' or an id. 'plan' opens the sheet that rolls out gradually. */
  onEdit: (strategy: string, options?: { switchOn?: boolean }) => void
}

/** A flag in one environment: the switch, what it means, and the strategies. */
export function EnvironmentPanel({ flag, environment, onEdit }: PanelProps) {
  const heading = useId()
  const [choosing, setChoosing] = useState<'first' | 'off'>()
  const flip = useSwitch(flag)
  const [switchAsked, question] = useAskedSwitch()
  const project = useProject(flag.project)
  const reason = useReasons(flag)
  const protection = useProtection(flag.project)
  const freezeOf = useFreeze(flag.project)
  const drafted = useDrafted(flag, environment.name)
  const standard = project?.environments.find((one) => one.environment === environment.name)?.defaultStrategy
  const names = useSegmentNames()
  const plan = usePlan(flag, environment)
  const empty = environment.strategies.length === 0
  const mayAdd = reason('CREATE_FEATURE_STRATEGY', environment.name)
  const change = (on: boolean) => {
    const drafts = protection.drafts(environment.name, { off: !on })
    if (drafted.flip && drafts) return drafted.flip.takeOut()
    if (drafts && !on) return setChoosing('off')
    const freeze = freezeOf(environment.name, on)
    // The server refuses to switch on a flag without strategies, unless the project has a default strategy.
    if (on && empty && !standard && environment.planState === undefined && !mayAdd && freeze?.skips !== false) setChoosing('first')
    else
      switchAsked({
        what: flag.name,
        environment,
        on,
        freeze,
        drafted: drafts,
        details: <Affected projectId={flag.project} flag={flag.name} environment={environment.name} on={on} />,
        act: () => flip.mutate({ environment: environment.name, on, adds: on && empty && environment.planState === undefined }),
      })
  }
  return (
    <section className="card env" aria-labelledby={heading}>
      <div className="row-apart">
        <div className="row env-title">
          <Switch
            label={`${flag.name} in ${environment.name}`}
            checked={environment.enabled}
            onChange={change}
            disabledReason={reason('UPDATE_FEATURE_ENVIRONMENT', environment.name)}
          />
          <h2 id={heading} className="break">
            {environment.name}
          </h2>
          <UnnamedProduction {...environment} />
          {!isProduction(environment) && environment.type !== environment.name && <Badge>{words(environment.type)}</Badge>}
          <span className={environment.enabled ? 'env-on' : 'soft'}>{environment.enabled ? 'On' : 'Off'}</span>
          {drafted.flip?.note}
        </div>
        <div className="row">
          <LastUse flag={flag} environment={environment} />
          {environment.planState === undefined && (
            <Button size="small" disabledReason={mayAdd} onClick={() => onEdit('plan')} aria-label={`Roll out gradually in ${environment.name}`}>
              Roll out gradually
            </Button>
          )}
          <Button size="small" icon={<Icons.Plus />} disabledReason={mayAdd} onClick={() => onEdit('new')} aria-label={`Add strategy in ${environment.name}`}>
            Add strategy
          </Button>
        </div>
      </div>
      <ProtectionLine project={flag.project} environment={environment.name} feature={flag.name} drafted={drafted.rest}>
        {flag.dependencies.length > 0 && environment.enabled && <span>Only where {flag.dependencies.map(parentText).join(' and ')}</span>}
      </ProtectionLine>
      <UnknownOperators flag={flag} environment={environment} />
      {plan && <PlanCard flag={flag} environment={environment} plan={plan} onOff={() => change(false)} />}
      {empty && environment.planState === undefined && (
        <p className="soft">
          {standard
            ? `Switching it on adds the project's default strategy: ${describeStandard(standard, names)}`
            : 'No strategy yet. It says who gets the flag when it is on.'}
        </p>
      )}
      {environment.enabled && !empty && !environment.hasEnabledStrategies && <p className="soft">Every strategy is disabled, so no one gets the flag.</p>}
      {!empty && <StrategyList flag={flag} environment={environment} plan={plan} onEdit={onEdit} draftedFor={drafted.of} />}
      {environment.variants.length > 0 && (
        <p className="soft small">
          Variants:{' '}
          <Link to="/projects/$projectId/flags/$flag/variants" params={{ projectId: flag.project, flag: flag.name }} className="break">
            {variantsText(environment)}
          </Link>
        </p>
      )}
      {question}
      {choosing === 'first' && (
        <FirstStrategyDialog flag={flag} environment={environment} onClose={() => setChoosing(undefined)} onDetails={() => onEdit('new', { switchOn: true })} />
      )}
      {choosing === 'off' && (
        <Suspense fallback={null}>
          <NotOffDialog project={flag.project} flag={flag.name} environment={environment.name} onClose={() => setChoosing(undefined)} />
        </Suspense>
      )}
    </section>
  )
}

// The first variants with their shares: 'blue 50%, green 50%'.
function variantsText({ variants }: FlagEnvironment) {
  const more = variants.length - shownVariants
  const text = variants.slice(0, shownVariants).map(({ name, weight }) => `${name} ${percentOf(weight)}`)
  return text.join(', ') + (more > 0 ? ` and ${more} more` : '')
}

const shownVariants = 4
