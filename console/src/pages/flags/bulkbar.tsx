import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { errorText, invalidate, useMe } from '../../api'
import { useProposal, useProtections } from '../../requests/drafts'
import { useFreezes } from '../../requests/freeze'
import { Button, Dialog, Icons, Menu, ProductionMark, plural, number, toast, useAskedSwitch, type MenuEntry } from '../../ui'
import { describeStandard } from '../flag/strategy/describe'
import { useSegmentNames } from '../flag/strategy/list'
import {
  archiveAction,
  changedBy,
  combined,
  foreseen,
  moveAction,
  resultText,
  staleAction,
  switchAction,
  tagAction,
  type BulkAction,
  type BulkPart,
} from './actions'
import { ArchiveDialog, FlagNames } from './archivedialog'
import { groupFailures, type Failure } from './bulk'
import { MoveDialog, TagsDialog } from './bulkdialogs'
import { patchRows, projectsOf, readAgain } from './data'
import { DependentsLine } from './dependents'
import { ExportDialog } from './exportdialog'
import type { FlagRow } from './rows'
import { projectOverview } from './useswitch'

interface BulkBarProps {
  environments: readonly { name: string; type: string }[]
  flags: readonly FlagRow[]
  /** The number of selected flags that the filters hide. */
  hidden: number
  onClear: () => void
}

/** Actions for the selected flags of one project or of several, with progress, Undo, and the flags that could not be changed. */
export function BulkBar({ environments, flags, hidden, onClear }: BulkBarProps) {
  const client = useQueryClient()
  const { can } = useMe()
  const projects = projectsOf(flags)
  const single = projects.length === 1 ? projects[0] : undefined
  const bulk = useBulk(onClear)
  const [dialog, setDialog] = useState<'tags' | 'move' | 'export' | 'archive'>()
  const [switchAsked, question] = useAskedSwitch()
  const close = () => setDialog(undefined)
  const protectionOf = useProtections(projects)
  const freezeOf = useFreezes(projects)
  const segments = useSegmentNames()
  const reasonOf = (permission: string) => projects.map((project) => can(permission, project).reason).find(Boolean)
  const update = reasonOf('UPDATE_FEATURE')
  // What the question says, and what Undo takes back, is read at that moment.
  const current = () => readAgain(client, flags).catch((error: unknown) => void toast.error(errorText(error)))
  const start = async (action: Part) => {
    const before = await current()
    if (before) await bulk.start(before, action)
  }
  const drafts = (environment: string, on: boolean) => projects.every((project) => protectionOf(project).drafts(environment, { off: !on }))
  const freezeIn = (environment: string, on: boolean) => {
    const found = projects.flatMap((project) => freezeOf(project, environment, on) ?? [])
    return found.find(({ skips }) => !skips) ?? found[0]
  }
  const switches = (on: boolean) =>
    environments.map((environment): MenuEntry => ({
      label: (
        <>
          {environment.name} <ProductionMark type={environment.type} />
          {drafts(environment.name, on) && <span className="soft"> (adds to a draft)</span>}
        </>
      ),
      disabledReason: projects
        .filter((project) => !protectionOf(project).drafts(environment.name, { off: !on }))
        .map((project) => can('UPDATE_FEATURE_ENVIRONMENT', project, environment.name).reason)
        .find(Boolean),
      onSelect: async () => {
        const [now, standards] = await Promise.all([
          current(),
          standardsIn(client, projects, environment.name).catch((error: unknown) => void toast.error(errorText(error))),
        ])
        if (!now || !standards) return
        const standardOf = (project: string) => {
          const standard = standards.get(project)
          return standard && describeStandard(standard, segments)
        }
        const effect = (of: FlagRow[]) => foreseen(of, environment.name, on, standardOf)
        const { changing, text } = effect(now)
        switchAsked({
          what: plural(changing.length || now.length, 'flag'),
          environment,
          on,
          freeze: freezeIn(environment.name, on),
          drafted: drafts(environment.name, on),
          details: (
            <>
              <p>{text}</p>
              {changing.length > 0 && <FlagNames names={changing} />}
              {projects.map((project) => (
                <DependentsLine
                  key={project}
                  projectId={project}
                  flags={now.filter((row) => row.project === project && changing.includes(row.name)).map(({ name }) => name)}
                />
              ))}
            </>
          ),
          check: async () => {
            const other = JSON.stringify(effect(await readAgain(client, flags))) !== JSON.stringify({ changing, text })
            if (other) throw new Error(`Someone changed these flags in ${environment.name} just now, so nothing was done. Close this and look at them again.`)
          },
          act: () => void start((project, some) => switchAction(project, some, environment.name, on, standards.has(project))),
        })
      },
    }))
  const more: MenuEntry[] = [
    { label: 'Mark as stale', disabledReason: update, onSelect: () => void bulk.start(flags, (project, some) => staleAction(project, some, true)) },
    { label: 'Mark as active', disabledReason: update, onSelect: () => void bulk.start(flags, (project, some) => staleAction(project, some, false)) },
    { label: 'Change tags…', icon: <Icons.Tag />, disabledReason: update, onSelect: () => setDialog('tags') },
    { label: 'Move to a project…', icon: <Icons.Folder />, disabledReason: reasonOf('MOVE_FEATURE_TOGGLE'), onSelect: () => setDialog('move') },
    { label: 'Export…', icon: <Icons.Swap />, disabledReason: single ? undefined : 'Select flags of one project.', onSelect: () => setDialog('export') },
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
          disabledReason={projects
            .filter((project) => !protectionOf(project).drafts())
            .map((project) => can('DELETE_FEATURE', project).reason)
            .find(Boolean)}
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
      {dialog === 'archive' && <ArchiveDialog project={projects} flags={flags} onClose={close} onConfirm={async () => void start(archiveAction)} />}
      {dialog === 'tags' && (
        <TagsDialog
          flags={flags}
          onClose={close}
          onSubmit={(added, removed) => {
            close()
            void bulk.start(flags, (project, some) => tagAction(project, some, added, removed))
          }}
        />
      )}
      {dialog === 'move' && (
        <MoveDialog
          flags={flags}
          onClose={close}
          onSubmit={(target) => {
            close()
            void bulk.start(
              flags.filter(({ project }) => project !== target),
              (project) => moveAction(project, target),
            )
          }}
        />
      )}
      {dialog === 'export' && single && (
        <ExportDialog projectId={single} environments={environments} features={flags.map((flag) => flag.name)} onClose={close} />
      )}
      <FailuresDialog failures={bulk.failures} onClose={bulk.clearFailures} />
    </>
  )
}

interface Progress {
  doing: string
  finished: number
  total: number
}

/** The action for the flags of a project. */
type Part = (project: string, flags: FlagRow[]) => BulkAction

// The default strategies that projects have in an environment.
async function standardsIn(client: QueryClient, projects: readonly string[], environment: string) {
  const found = await Promise.all(projects.map((project) => client.ensureQueryData(projectOverview(project))))
  return new Map(
    found.flatMap(({ environments }, index) => {
      const standard = environments.find((one) => one.environment === environment)?.defaultStrategy
      return standard ? [[projects[index]!, standard] as const] : []
    }),
  )
}

// Runs one action at a time.
function useBulk(onDone: () => void) {
  const client = useQueryClient()
  const [progress, setProgress] = useState<Progress>()
  const [failures, setFailures] = useState<Failure[]>([])
  const stopped = useRef(false)
  const refresh = () => invalidate(client, ['/api/admin/projects', '/api/admin/search', '/api/admin/archive'])
  const propose = useProposal()
  const start = async (before: readonly FlagRow[], part: Part) => {
    const direct: BulkPart[] = []
    try {
      for (const project of projectsOf(before)) {
        const some = before.filter((row) => row.project === project)
        const names = some.map(({ name }) => name)
        const action = part(project, some)
        if (!(await propose(action.requests?.(names) ?? []))) direct.push({ names, action })
      }
    } catch (error) {
      return toast.error(errorText(error))
    }
    if (direct.length === 0) return onDone()
    const action = combined(direct)
    const names = direct.flatMap((one) => one.names)
    stopped.current = false
    setProgress({ doing: action.doing, finished: 0, total: names.length })
    const result = await action.run(
      names,
      (finished) => setProgress({ doing: action.doing, finished, total: names.length }),
      () => stopped.current,
    )
    const { patch, undo } = action
    if (patch) patchRows(client, result.done, patch)
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
