import { Suspense, lazy } from 'react'
import { useUrlState } from '../../shell'
import { Button, Dialog, Notice } from '../../ui'
import { useLoadedFlag } from './data'
import { EnvironmentPanel } from './environment'
import { StrategyEditor } from './strategy/editor'

const PlanSheet = lazy(() => import('./plan/sheet'))

/** The strategies of the flag in each environment. */
export default function OverviewTab() {
  const flag = useLoadedFlag()
  // The open strategy is part of the address: 'new', an id, or 'plan' for a new release plan. on: saving it also switches the flag on.
  const [view, setView] = useUrlState({ environment: '', strategy: '', on: false as boolean })
  // A link may leave the environment out: the id of a strategy says which it is.
  const environment = flag.environments.find((one) =>
    view.environment ? one.name === view.environment : one.strategies.some(({ id }) => id === view.strategy),
  )
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
          key={`${environment.name}/${view.strategy}`}
          flag={flag}
          environment={environment}
          id={view.strategy}
          switchOn={view.on}
          onClose={close}
        />
      )}
      {!environment && view.strategy && (
        <Dialog
          open
          onClose={close}
          title="The strategy is not there"
          description={`${flag.name} has no such strategy. It was removed, or the link is wrong.`}
          actions={
            <Button variant="primary" data-focus="" onClick={close}>
              Show the flag
            </Button>
          }
        />
      )}
    </>
  )
}
