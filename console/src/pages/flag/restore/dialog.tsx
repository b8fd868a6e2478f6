import { useState, type ReactNode } from 'react'
import { errorText } from '../../../api'
import { Button, Dialog, ErrorState, Loading, Notice, ProductionMark, RadioGroup, Select } from '../../../ui'
import { diffLines } from '../../../ui/diff'
import { Changes } from '../../../ui/changes'
import { Diff } from '../../../ui/diffview'
import { differencesOf } from '../../insight/eventtext'
import { useAtOnce } from '../atonce'
import { useReasons, type Flag, type FlagEnvironment } from '../data'
import { switchesOff } from '../strategy/changes'
import { describeStrategy } from '../strategy/describe'
import { useSegmentNames } from '../strategy/list'
import type { Strategy } from '../strategy/model'
import { useRestoreOrder, useRestoreSettings, useRestoreStrategy, useRestoreTags, useRestoreVariants, type Present, type Restoring } from './change'
import { shownStrategy, type Restorable } from './versions'

interface RestoreDialogProps {
  flag: Flag
  restorable: readonly Restorable[]
  onClose: () => void
}

/** Restores a part of a flag as it was before or after an event. */
export default function RestoreDialog({ flag, restorable, onClose }: RestoreDialogProps) {
  const [chosen, setChosen] = useState(0)
  const names = useSegmentNames()
  return (
    <Dialog open wide onClose={onClose} title="Restore from history">
      {restorable.length > 1 && (
        <Select
          label="What"
          choices={restorable.map((other, index) => ({ value: String(index), label: labelOf(other, names) }))}
          value={String(chosen)}
          onChange={(index) => setChosen(Number(index))}
        />
      )}
      <Chosen key={chosen} flag={flag} one={restorable[chosen]!} names={names} onClose={onClose} />
    </Dialog>
  )
}

type Names = ReadonlyMap<number, string>

function labelOf(one: Restorable, names: Names): string {
  switch (one.kind) {
    case 'settings':
      return 'Description and type'
    case 'tags':
      return 'Tags'
    case 'variants':
      return `Variants in ${one.environment}`
    case 'order':
      return `Order of the strategies in ${one.environment}`
  }
  const strategy = one.after ?? one.before
  return `Strategy in ${one.environment}: ${(strategy && strategyName(strategy, names)) || one.id}`
}

const strategyName = (strategy: Strategy, names: Names) => strategy.title || describeStrategy(strategy as never, names)

interface Part<One> {
  flag: Flag
  one: One
  names: Names
  onClose: () => void
}

type InEnvironment<Kind> = Part<Extract<Restorable, { kind: Kind }>> & { environment: FlagEnvironment }

function Chosen({ one, ...rest }: Part<Restorable>) {
  if (one.kind === 'settings') return <RestoreSettings one={one} {...rest} />
  if (one.kind === 'tags') return <RestoreTags one={one} {...rest} />
  const environment = rest.flag.environments.find(({ name }) => name === one.environment)
  if (!environment) return <Notice kind="warn">The flag is no longer in {one.environment}, so nothing can be restored there.</Notice>
  if (one.kind === 'order') return <RestoreOrder one={one} environment={environment} {...rest} />
  if (one.kind === 'variants') return <RestoreVariants one={one} environment={environment} {...rest} />
  return <RestoreStrategy one={one} environment={environment} {...rest} />
}

function RestoreStrategy({ flag, environment, one, names, onClose }: InEnvironment<'strategy'>) {
  const restoring = useRestoreStrategy(flag, environment, one.id, one)
  const reason = useReasons(flag)(restoring.present?.state ? 'UPDATE_FEATURE_STRATEGY' : 'CREATE_FEATURE_STRATEGY', environment.name)
  return (
    <Versions
      {...useThere(flag, environment)}
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

function RestoreOrder({ flag, environment, one, names, onClose }: InEnvironment<'order'>) {
  const reason = useReasons(flag)('UPDATE_FEATURE_STRATEGY', environment.name)
  return (
    <Versions
      {...useThere(flag, environment)}
      restoring={useRestoreOrder(flag, environment, one)}
      reason={reason}
      shown={(strategies) => {
        const texts = strategies.map((strategy) => strategyName(strategy, names))
        return texts.map((text, index) => (texts.indexOf(text) === texts.lastIndexOf(text) ? text : `${text} (${strategies[index]!.id})`))
      }}
      onClose={onClose}
      note={() => (
        <p className="soft small">
          This restores the order of the strategies that there are now, and not what they say. Who matches several strategies gets the variants of the first
          one.
        </p>
      )}
    />
  )
}

function RestoreVariants({ flag, environment, one, onClose }: InEnvironment<'variants'>) {
  const reason = useReasons(flag)('UPDATE_FEATURE_ENVIRONMENT_VARIANTS', environment.name)
  return (
    <Versions
      {...useThere(flag, environment)}
      restoring={useRestoreVariants(flag, environment, one)}
      reason={reason}
      shown={(variants) => variants}
      onClose={onClose}
      note={() => <p className="soft small">This restores the variants of {environment.name} only, and not those of strategies or of other environments.</p>}
    />
  )
}

function RestoreSettings({ flag, one, onClose }: Part<Extract<Restorable, { kind: 'settings' }>>) {
  const reason = useReasons(flag)('UPDATE_FEATURE')
  return <Versions {...everywhere} restoring={useRestoreSettings(flag, one)} reason={reason} shown={(settings) => settings} onClose={onClose} />
}

function RestoreTags({ flag, one, onClose }: Part<Extract<Restorable, { kind: 'tags' }>>) {
  const reason = useReasons(flag)('UPDATE_FEATURE')
  return (
    <Versions
      {...everywhere}
      restoring={useRestoreTags(flag, one)}
      reason={reason}
      shown={(tags) => tags.map(({ type, value }) => `${type}:${value}`).sort()}
      onClose={onClose}
      note={() => <p className="soft small">This restores the tags that the change added or removed, and keeps all others.</p>}
    />
  )
}

interface Where {
  heading: ReactNode
  submit: string
  warning?: ReactNode
}

const everywhere: Where = { heading: 'What changes', submit: 'Restore' }

function useThere(flag: Flag, environment: FlagEnvironment): Where {
  const atOnce = useAtOnce(flag, environment)
  const heading = (
    <>
      What changes in {environment.name} <ProductionMark type={environment.type} />
    </>
  )
  return { heading, submit: atOnce.label('Restore'), warning: atOnce.line({}) }
}

interface VersionsProps<State> extends Where {
  restoring: Restoring<State>
  reason?: string
  shown: (state: State) => unknown
  note?: (version: State, present: Present<State>) => ReactNode
  onClose: () => void
}

// Chooses one of the versions of an event, shows what it changes, and restores it.
function Versions<State>({ heading, submit, warning, restoring, reason, shown, note, onClose }: VersionsProps<State>) {
  const [when, setWhen] = useState<'before' | 'after'>()
  const [pending, setPending] = useState(false)
  const [failure, setFailure] = useState('')
  const { present, versions } = restoring
  if (restoring.error) return <ErrorState error={restoring.error} onRetry={() => void restoring.reread()} />
  if (!present) return <Loading lines={4} />
  const current = present.state === null ? undefined : shown(present.state)
  const isCurrent = (state?: State) => state !== undefined && current !== undefined && diffLines(current, shown(state)).every(({ kind }) => kind === 'same')
  if (!when) {
    // The newest change is usually opened to undo it, an older one to return to it. Later changes of others do not change the choice.
    setWhen(versions.after === undefined || (versions.before !== undefined && isCurrent(versions.after)) ? 'before' : 'after')
    return null
  }
  const version = versions[when]!
  const restore = async () => {
    setPending(true)
    setFailure('')
    try {
      await restoring.restore(version)
      onClose()
    } catch (error) {
      const latest = await restoring.reread()
      const overtaken = latest && JSON.stringify(latest.state) !== JSON.stringify(present.state)
      setFailure(overtaken ? 'Someone else has just changed this, so nothing was restored. Below is the difference to what is stored now.' : errorText(error))
    } finally {
      setPending(false)
    }
  }
  return (
    <div className="stack">
      {versions.before !== undefined && versions.after !== undefined && (
        <RadioGroup
          label="Version"
          choices={[
            { value: 'before', label: 'Before this change' },
            { value: 'after', label: 'After this change' },
          ]}
          value={when}
          onChange={setWhen}
        />
      )}
      {failure && (
        <p role="alert" className="form-error">
          {failure}
        </p>
      )}
      <h3 className="row">{heading}</h3>
      <Difference before={current} after={shown(version)} />
      {note?.(version, present)}
      {warning}
      <div className="dialog-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          variant="primary"
          pending={pending}
          disabledReason={reason ?? (isCurrent(version) ? 'This version is what is stored now.' : undefined)}
          onClick={() => void restore()}
        >
          {submit}
        </Button>
      </div>
    </div>
  )
}

// In sentences, with the JSON folded. The lines of an order and of tags are sentences already.
function Difference({ before, after }: { before: unknown; after: unknown }) {
  const label = 'What restoring changes'
  const lines = Array.isArray(after) && after.every((one) => typeof one === 'string')
  if (lines || !before || !after || JSON.stringify(before) === JSON.stringify(after)) return <Diff before={before} after={after} label={label} />
  const parts = Array.isArray(after) ? [{ variants: before }, { variants: after }] : [before, after]
  return <Changes changes={differencesOf(parts[0]!, parts[1]!)} before={before} after={after} label={label} />
}
