import { Suspense, lazy } from 'react'
import { useUrlState } from '../../shell'
import { Notice } from '../../ui'
import { useLoadedFlag } from './data'
import { EnvironmentPanel } from './environment'
import { StrategyEditor } from './strategy/editor'

const PlanSheet = lazy(() => import('./plan/sheet'))

/** The strategies of the flag in each environment. */
export default function OverviewTab() {
  const flag = useLoadedFlag()
  // The open strategy is part of the address: 'new', an id, or 'plan' for a new release plan. on: saving it also switches the flag on.
  const [view, setView] = useUrlState({ environment: '', strategy: '', on: false as boolean })
  const environment = flag.environments.find((one) => one.name === view.environment)
  const open = (name: string, strategy: string, options?: { switchOn?: boolean }) => {
    setView({ environment: name, strategy, on: Boolean(options?.switchOn) }, { push: true })
  }
  const close = () => setView({ environment: '', strategy: '', on: false })
  return (
    <>
      {flag.environments.length === 0 && <Notice>The project has no environments. Add one in the settings of the project.</Notice>}
      {flag.environments.map((one) => (
        <EnvironmentPanel key={one.name} flag={flag} environment={one} onEdit={(strategy, options) => open(one.name, strategy, options)} />
      ))}
      {environment && view.strategy === 'plan' && (
        <Suspense fallback={null}>
          <PlanSheet key={view.environment} flag={flag} environment={environment} onClose={close} />
        </Suspense>
      )}
      {environment && view.strategy && view.strategy !== 'plan' && (
        <StrategyEditor
          key={`${view.environment}/${view.strategy}`}
          flag={flag}
          environment={environment}
          id={view.strategy}
          switchOn={view.on}
          onClose={close}
        />
      )}
    </>
  )
}
