import { useId, useState } from 'react'
import { useProtection } from '../../requests/drafts'
import { useFreeze } from '../../requests/freeze'
import { ProtectionLine } from '../../requests/line'
import { Badge, Button, Icons, Notice, ProductionMark, Switch, isProduction, plural, useAskedSwitch, words } from '../../ui'
import { DailyUse, UnknownOperators } from './about'
import { useProject, useReasons, type Flag, type FlagEnvironment } from './data'
import { FirstStrategyDialog } from './firststrategy'
import { Affected } from './strategy/affected'
import { describeStandard, onlyWhere } from './strategy/describe'
import { StrategyList, useSegmentNames } from './strategy/list'
import { useSwitch } from './switch'

interface PanelProps {
  flag: Flag
  environment: FlagEnvironment
  /** Opens the editor of a strategy: 'new' or an id. */
  onEdit: (strategy: string, options?: { switchOn?: boolean }) => void
}

/** A flag in one environment: the switch, what it means, and the strategies. */
export function EnvironmentPanel({ flag, environment, onEdit }: PanelProps) {
  const heading = useId()
  const [choosing, setChoosing] = useState(false)
  const flip = useSwitch(flag)
  const [switchAsked, question] = useAskedSwitch()
  const project = useProject(flag.project)
  const reason = useReasons(flag)
  const protection = useProtection(flag.project)
  const freezeOf = useFreeze(flag.project)
  const standard = project?.environments.find((one) => one.environment === environment.name)?.defaultStrategy
  const names = useSegmentNames()
  const production = isProduction(environment)
  const empty = environment.strategies.length === 0
  const mayAdd = reason('CREATE_FEATURE_STRATEGY', environment.name)
  const change = (on: boolean) => {
    const freeze = freezeOf(environment.name, on)
    // The server refuses to switch on a flag without strategies, unless the project has a default strategy.
    if (on && empty && !standard && !mayAdd && freeze?.skips !== false) setChoosing(true)
    else
      switchAsked({
        what: flag.name,
        environment,
        on,
        freeze,
        drafted: protection.drafts(environment.name, { off: !on }),
        details: <Affected projectId={flag.project} flag={flag.name} environment={environment.name} on={on} />,
        act: () => flip.mutate({ environment: environment.name, on, adds: on && empty }),
      })
  }
  return (
    <section className={production ? 'card env env-production' : 'card env'} aria-labelledby={heading}>
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
          <ProductionMark type={environment.type} />
          {!production && environment.type !== environment.name && <Badge>{words(environment.type)}</Badge>}
          <span className={environment.enabled ? 'env-state env-on' : 'env-state soft'}>{environment.enabled ? 'On' : 'Off'}</span>
        </div>
        <div className="row">
          <span className="soft small">
            <DailyUse flag={flag} environment={environment} />
          </span>
          <Button size="small" icon={<Icons.Plus />} disabledReason={mayAdd} onClick={() => onEdit('new')} aria-label={`Add strategy in ${environment.name}`}>
            Add strategy
          </Button>
        </div>
      </div>
      <p className="soft">
        {stateText(environment)}
        {empty && standard && ` Switching it on adds the project's default strategy: ${describeStandard(standard, names)}`}
      </p>
      <ProtectionLine project={flag.project} environment={environment.name} feature={flag.name} />
      {environment.enabled && !empty && !environment.hasEnabledStrategies && (
        <Notice kind="warn">Every strategy here is disabled, so no one gets the flag. Enable a strategy, or add one.</Notice>
      )}
      <UnknownOperators flag={flag} environment={environment} />
      {flag.dependencies.length > 0 && environment.enabled && <p className="soft">{onlyWhere(flag.dependencies)}</p>}
      {!empty && <StrategyList flag={flag} environment={environment} onEdit={onEdit} />}
      {environment.variantCount > 0 && (
        <p className="soft small">
          {plural(environment.variantCount, 'variant')} for those who get the flag by a strategy without variants of its own: see the Variants tab.
        </p>
      )}
      {question}
      {choosing && (
        <FirstStrategyDialog flag={flag} environment={environment} onClose={() => setChoosing(false)} onDetails={() => onEdit('new', { switchOn: true })} />
      )}
    </section>
  )
}

/** What the state of a flag in an environment means. */
export function stateText(environment: Pick<FlagEnvironment, 'enabled' | 'strategies'>): string {
  const active = environment.strategies.filter((strategy) => !strategy.disabled).length
  if (environment.strategies.length === 0) return 'Off for everyone. A strategy says who gets the flag when it is on.'
  if (!environment.enabled) return 'Off for everyone. The strategies apply as soon as it is switched on.'
  if (active > 1) return 'On for everyone who matches at least one strategy.'
  return active === 1 ? 'On for everyone who matches the strategy.' : 'On, but without a strategy that applies.'
}
