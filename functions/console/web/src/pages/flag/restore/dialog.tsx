import { useState, type ReactNode } from 'react'
import { errorText, isConflict } from '../../../api'
import { useProtection } from '../../../requests/drafts'
import { Button, Dialog, ErrorState, Loading, Notice, ProductionMark, RadioGroup, Select, followsAtOnce, isProduction } from '../../../ui'
import { diffLines } from '../../../ui/diff'
import { Diff } from '../../../ui/diffview'
import { useFlagParams, useReasons, type Flag, type FlagEnvironment } from '../data'
import { switchesOff } from '../strategy/changes'
import { describeStrategy } from '../strategy/describe'
import { useSegmentNames } from '../strategy/list'
import { useRestoreStrategy, useRestoreVariants, type Present } from './change'
import { shownStrategy, type Restorable } from './versions'

interface RestoreDialogProps {
  flag: Flag
  restorable: readonly Restorable[]
  onClose: () => void
}

/** Restores a strategy, or the variants of an environment, as they were before or after an event. */
export default function RestoreDialog({ flag, restorable, onClose }: RestoreDialogProps) {
  const [chosen, setChosen] = useState(0)
  const names = useSegmentNames()
  const one = restorable[chosen]!
  const environment = flag.environments.find(({ name }) => name === one.environment)
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="Restore from history"
      description="Compare a version with what is stored now. Restoring is an ordinary change: it appears in the history, and can be undone."
    >
      {restorable.length > 1 && (
        <Select
          label="What"
          choices={restorable.map((other, index) => ({ value: String(index), label: labelOf(other, names) }))}
          value={String(chosen)}
          onChange={(index) => setChosen(Number(index))}
        />
      )}
      {!environment ? (
        <Notice kind="warn">The flag is no longer in {one.environment}, so nothing can be restored there.</Notice>
      ) : one.kind === 'strategy' ? (
        <RestoreStrategy key={chosen} flag={flag} environment={environment} one={one} names={names} onClose={onClose} />
      ) : (
        <RestoreVariants key={chosen} flag={flag} environment={environment} one={one} onClose={onClose} />
      )}
    </Dialog>
  )
}

function labelOf(one: Restorable, names: ReadonlyMap<number, string>): string {
  if (one.kind === 'variants') return `Variants in ${one.environment}`
  const strategy = one.after ?? one.before
  return `Strategy in ${one.environment}: ${strategy?.title || (strategy && describeStrategy(strategy as never, names)) || one.id}`
}

interface Part<Kind> {
  flag: Flag
  environment: FlagEnvironment
  one: Extract<Restorable, { kind: Kind }>
  onClose: () => void
}

function RestoreStrategy({ flag, environment, one, names, onClose }: Part<'strategy'> & { names: ReadonlyMap<number, string> }) {
  const restoring = useRestoreStrategy(flag, environment, one.id)
  const reason = useReasons(flag)(restoring.present?.state ? 'UPDATE_FEATURE_STRATEGY' : 'CREATE_FEATURE_STRATEGY', environment.name)
  return (
    <Versions
      environment={environment}
      one={one}
      restoring={restoring}
      reason={reason}
      shown={(strategy) => shownStrategy(strategy, names)}
      onClose={onClose}
      note={(version, present) => (
        <>
          {!present.state && <Notice>The strategy was removed. Restoring adds it again, as a new strategy at its old place.</Notice>}
          {present.state && version.disabled && switchesOff(environment, present.state) && (
            <Notice kind="warn">This version is disabled and no other strategy applies, so the flag goes off here.</Notice>
          )}
          <p className="soft small">
            This restores the strategy only, and not the other strategies, their order, or whether the flag is on. Segments return with the constraints that
            they have now.
          </p>
        </>
      )}
    />
  )
}

function RestoreVariants({ flag, environment, one, onClose }: Part<'variants'>) {
  const restoring = useRestoreVariants(flag, environment)
  const reason = useReasons(flag)('UPDATE_FEATURE_ENVIRONMENT_VARIANTS', environment.name)
  return (
    <Versions
      environment={environment}
      one={one}
      restoring={restoring}
      reason={reason}
      shown={(variants) => variants}
      onClose={onClose}
      note={() => <p className="soft small">This restores the variants of {environment.name} only, and not those of strategies or of other environments.</p>}
    />
  )
}

interface VersionsProps<State> {
  environment: FlagEnvironment
  one: { before?: State; after?: State }
  restoring: { present?: Present<State>; error: Error | null; reread: () => void; restore: (version: State) => Promise<unknown> }
  reason?: string
  shown: (state: State) => unknown
  note: (version: State, present: Present<State>) => ReactNode
  onClose: () => void
}

// Chooses one of the versions of an event, shows what it changes, and restores it.
function Versions<State>({ environment, one, restoring, reason, shown, note, onClose }: VersionsProps<State>) {
  const [chosen, setChosen] = useState<'before' | 'after'>()
  const [pending, setPending] = useState(false)
  const [failure, setFailure] = useState('')
  const { projectId } = useFlagParams()
  const drafts = useProtection(projectId).drafts(environment.name)
  const production = isProduction(environment) && !drafts
  const { present } = restoring
  if (restoring.error) return <ErrorState error={restoring.error} onRetry={restoring.reread} />
  if (!present) return <Loading lines={4} />
  const current = present.state === null ? undefined : shown(present.state)
  const isCurrent = (state?: State) => state !== undefined && current !== undefined && diffLines(current, shown(state)).every(({ kind }) => kind === 'same')
  // The newest change is usually opened to undo it, an older one to return to it.
  const when = chosen ?? (one.after === undefined || (one.before !== undefined && isCurrent(one.after)) ? 'before' : 'after')
  const version = one[when]!
  const restore = async () => {
    setPending(true)
    setFailure('')
    try {
      await restoring.restore(version)
      onClose()
    } catch (error) {
      if (isConflict(error)) restoring.reread()
      setFailure(
        isConflict(error) ? 'Someone else has just changed this, so nothing was restored. Below is the difference to what is stored now.' : errorText(error),
      )
    } finally {
      setPending(false)
    }
  }
  return (
    <div className="stack">
      {one.before !== undefined && one.after !== undefined && (
        <RadioGroup
          label="Version"
          choices={[
            { value: 'before', label: 'Before this change' },
            { value: 'after', label: 'After this change' },
          ]}
          value={when}
          onChange={setChosen}
        />
      )}
      {failure && (
        <p role="alert" className="form-error">
          {failure}
        </p>
      )}
      <h3 className="row">
        What changes in {environment.name} <ProductionMark type={environment.type} />
      </h3>
      <Diff before={current} after={shown(version)} label="What restoring changes" />
      {note(version, present)}
      {production && <Notice kind="warn">{followsAtOnce(environment)}</Notice>}
      <div className="dialog-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          variant={production ? 'danger' : 'primary'}
          pending={pending}
          disabledReason={reason ?? (isCurrent(version) ? 'This version is what is stored now.' : undefined)}
          onClick={() => void restore()}
        >
          {drafts ? 'Add to draft' : `Restore in ${environment.name}`}
        </Button>
      </div>
    </div>
  )
}
