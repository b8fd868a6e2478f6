import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { errorText, invalidate, useMe, type Schema } from '../../api'
import { useProposal, useProtection } from '../../requests/drafts'
import { useFreeze } from '../../requests/freeze'
import { Button, Dialog, Icons, Menu, ProductionMark, plural, number, toast, useAskedSwitch, type MenuEntry } from '../../ui'
import { describeStandard } from '../flag/strategy/describe'
import { useSegmentNames } from '../flag/strategy/list'
import { archiveAction, changedBy, foreseen, moveAction, resultText, staleAction, switchAction, tagAction, type BulkAction } from './actions'
import { ArchiveDialog, FlagNames } from './archivedialog'
import { groupFailures, type Failure } from './bulk'
import { MoveDialog, TagsDialog } from './bulkdialogs'
import { patchRows, readAgain } from './data'
import { DependentsLine } from './dependents'
import { ExportDialog } from './exportdialog'
import type { FlagRow } from './rows'

interface BulkBarProps {
  projectId: string
  /** standard: the project's default strategy, for flags that have none there. */
  environments: readonly { name: string; type: string; standard?: Schema<'DefaultStrategy'> }[]
  flags: readonly FlagRow[]
  /** The number of selected flags that the filters hide. */
  hidden: number
  onClear: () => void
}

/** Actions for the selected flags, with progress, Undo, and the flags that could not be changed. */
export function BulkBar({ projectId, environments, flags, hidden, onClear }: BulkBarProps) {
  const client = useQueryClient()
  const { can } = useMe()
  const bulk = useBulk(projectId, flags, onClear)
  const [dialog, setDialog] = useState<'tags' | 'move' | 'export' | 'archive'>()
  const [switchAsked, question] = useAskedSwitch()
  const close = () => setDialog(undefined)
  const protection = useProtection(projectId)
  const freezeOf = useFreeze(projectId)
  const segments = useSegmentNames()
  const update = can('UPDATE_FEATURE', projectId).reason
  // What the question says, and what Undo takes back, is read at that moment.
  const current = () => readAgain(client, projectId, flags).catch((error: unknown) => void toast.error(errorText(error)))
  const start = async (action: (before: FlagRow[]) => BulkAction) => {
    const before = await current()
    if (before) await bulk.start(action(before))
  }
  const switches = (on: boolean) =>
    environments.map((environment): MenuEntry => ({
      label: (
        <>
          {environment.name} <ProductionMark type={environment.type} />
          {protection.drafts(environment.name, { off: !on }) && <span className="soft"> (adds to a draft)</span>}
        </>
      ),
      disabledReason: protection.drafts(environment.name, { off: !on }) ? undefined : can('UPDATE_FEATURE_ENVIRONMENT', projectId, environment.name).reason,
      onSelect: async () => {
        const now = await current()
        if (!now) return
        const effect = (of: FlagRow[]) => foreseen(of, environment.name, on, environment.standard && describeStandard(environment.standard, segments))
        const { changing, text } = effect(now)
        switchAsked({
          what: plural(changing.length || now.length, 'flag'),
          environment,
          on,
          freeze: freezeOf(environment.name, on),
          drafted: protection.drafts(environment.name, { off: !on }),
          details: (
            <>
              <p>{text}</p>
              {changing.length > 0 && <FlagNames names={changing} />}
              <DependentsLine projectId={projectId} flags={changing} />
            </>
          ),
          check: async () => {
            const other = JSON.stringify(effect(await readAgain(client, projectId, flags))) !== JSON.stringify({ changing, text })
            if (other) throw new Error(`Meanwhile these flags have changed in ${environment.name}. Nothing was changed: close this, and look at them again.`)
          },
          act: () => void start((before) => switchAction(projectId, before, environment.name, on, Boolean(environment.standard))),
        })
      },
    }))
  const more: MenuEntry[] = [
    { label: 'Mark as stale', disabledReason: update, onSelect: () => void bulk.start(staleAction(projectId, flags, true)) },
    { label: 'Mark as active', disabledReason: update, onSelect: () => void bulk.start(staleAction(projectId, flags, false)) },
    { label: 'Change tags…', icon: <Icons.Tag />, disabledReason: update, onSelect: () => setDialog('tags') },
    { label: 'Move to a project…', icon: <Icons.Folder />, disabledReason: can('MOVE_FEATURE_TOGGLE', projectId).reason, onSelect: () => setDialog('move') },
    { label: 'Export…', icon: <Icons.Swap />, onSelect: () => setDialog('export') },
  ]
  if (bulk.progress) {
    return (
      <div className="flags-bulk" role="status">
        <span className="spinner" />
        <span className="grow number">
          {bulk.progress.doing}: {number(bulk.progress.finished)} of {plural(bulk.progress.total, 'flag')}
        </span>
        <Button size="small" onClick={bulk.stop}>
          Stop
        </Button>
      </div>
    )
  }
  return (
    <>
      <div className="flags-bulk" role="group" aria-label="Selected flags">
        <span className="strong number" role="status">
          {plural(flags.length, 'flag')} selected
          {hidden > 0 && `, ${number(hidden)} of them not shown`}
        </span>
        {[true, false].map((on) => (
          <Menu
            key={String(on)}
            align="start"
            heading={`Switch ${on ? 'on' : 'off'} in`}
            entries={switches(on)}
            trigger={
              <Button size="small">
                {on ? 'Switch on' : 'Switch off'}
                <Icons.Chevron />
              </Button>
            }
          />
        ))}
        <Button
          size="small"
          icon={<Icons.Archive />}
          disabledReason={protection.drafts() ? undefined : can('DELETE_FEATURE', projectId).reason}
          onClick={() => setDialog('archive')}
        >
          Archive
        </Button>
        <Menu
          align="start"
          entries={more}
          trigger={
            <Button size="small">
              More
              <Icons.Chevron />
            </Button>
          }
        />
        <Button size="small" variant="quiet" onClick={onClear}>
          Clear selection
        </Button>
      </div>
      {question}
      {dialog === 'archive' && (
        <ArchiveDialog project={projectId} flags={flags} onClose={close} onConfirm={async () => void start((before) => archiveAction(projectId, before))} />
      )}
      {dialog === 'tags' && (
        <TagsDialog
          flags={flags}
          onClose={close}
          onSubmit={(added, removed) => {
            close()
            void bulk.start(tagAction(projectId, flags, added, removed))
          }}
        />
      )}
      {dialog === 'move' && (
        <MoveDialog
          projectId={projectId}
          flags={flags}
          onClose={close}
          onSubmit={(target) => {
            close()
            void bulk.start(moveAction(projectId, target))
          }}
        />
      )}
      {dialog === 'export' && <ExportDialog projectId={projectId} environments={environments} features={flags.map((flag) => flag.name)} onClose={close} />}
      <FailuresDialog failures={bulk.failures} onClose={bulk.clearFailures} />
    </>
  )
}

interface Progress {
  doing: string
  finished: number
  total: number
}

// Runs one action at a time.
function useBulk(projectId: string, flags: readonly FlagRow[], onDone: () => void) {
  const client = useQueryClient()
  const [progress, setProgress] = useState<Progress>()
  const [failures, setFailures] = useState<Failure[]>([])
  const stopped = useRef(false)
  const refresh = () => invalidate(client, ['/api/admin/projects', '/api/admin/search', '/api/admin/archive'])
  const propose = useProposal()
  const start = async (action: BulkAction) => {
    const names = flags.map((flag) => flag.name)
    try {
      if (await propose(action.requests?.(names) ?? [])) return onDone()
    } catch (error) {
      return toast.error(errorText(error))
    }
    stopped.current = false
    setProgress({ doing: action.doing, finished: 0, total: names.length })
    const result = await action.run(
      names,
      (finished) => setProgress({ doing: action.doing, finished, total: names.length }),
      () => stopped.current,
    )
    const { patch, undo } = action
    if (patch) patchRows(client, projectId, result.done, patch)
    await refresh()
    setProgress(undefined)
    setFailures(result.failed)
    const changed = changedBy(action, result)
    const takeBack = async () => {
      try {
        await undo?.(changed)
      } finally {
        await refresh()
      }
    }
    if (result.done.length > 0) toast.success(resultText(action, result), undo && changed.length > 0 ? { undo: takeBack } : {})
    if (result.failed.length === 0 && !stopped.current) onDone()
  }
  return { start, stop: () => (stopped.current = true), progress, failures, clearFailures: () => setFailures([]) }
}

const shownFailures = 200

function FailuresDialog({ failures, onClose }: { failures: Failure[]; onClose: () => void }) {
  return (
    <Dialog
      open={failures.length > 0}
      onClose={onClose}
      title={`${plural(failures.length, 'flag')} not changed`}
      actions={<Button onClick={onClose}>Close</Button>}
    >
      <ul className="flags-failures" aria-label="Flags that were not changed" tabIndex={0}>
        {groupFailures(failures).map(({ message, names }) => (
          <li key={message} className="break">
            <p>
              {names.length > 1 && <span className="strong">{plural(names.length, 'flag')}: </span>}
              {message}
            </p>
            <p className="soft small">
              {names.slice(0, shownFailures).join(', ')}
              {names.length > shownFailures && ` and ${number(names.length - shownFailures)} more`}
            </p>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
