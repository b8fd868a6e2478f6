import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { invalidate } from '../../api'
import { useProtections } from '../../requests/drafts'
import { SkipsFreezes } from '../../requests/freeze'
import { ConfirmDialog, DateTime, Notice, ProductionMark, isProduction, number, plural, usesNoted } from '../../ui'
import { clock } from '../../ui/format'
import { lastSeen, type Archivable } from '../projects/restore'
import './flags.css'

const shown = 200
/** A flag that was used in this time is in use, in milliseconds. */
const inUse = 7 * 24 * 3_600_000

interface ArchiveDialogProps {
  /** The project, or those of the flags. */
  project: string | readonly string[]
  /** As a query has them at this moment: they are read again when the question opens. */
  flags: readonly { name: string; project?: string | null; environments: (Archivable['environments'][number] & { type: string })[] }[]
  onClose: () => void
  onConfirm: () => Promise<unknown>
}

/** Asks before flags are archived: where they are on, and when they were last used. */
export function ArchiveDialog({ project, flags, onClose, onConfirm }: ArchiveDialogProps) {
  const projects = [project].flat()
  const protectionOf = useProtections(projects)
  const client = useQueryClient()
  useEffect(() => void invalidate(client, ['/api/admin/projects/{projectId}/features', '/api/admin/search/features']), [client])
  const drafts = (flag: Archived) => protectionOf(flag.project ?? projects[0]!).drafts()
  // What may still be in use comes first.
  const ordered = flags.toSorted((a, b) => Number(isLive(b)) - Number(isLive(a)) || (lastSeen(b) ?? '').localeCompare(lastSeen(a) ?? ''))
  const [drafted, direct] = [ordered.filter(drafts), ordered.filter((flag) => !drafts(flag))]
  const both = drafted.length > 0 && direct.length > 0
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      onConfirm={onConfirm}
      title={flags.length === 1 ? `Archive ${flags[0]!.name}?` : `Archive ${plural(flags.length, 'flag')}?`}
      description="Applications no longer get an archived flag, and use the default in their code. You can revive it."
      action={both ? `Archive ${number(direct.length)}, draft ${number(drafted.length)}` : drafted.length > 0 ? 'Add to draft' : 'Archive'}
    >
      <OnInProduction flags={flags} />
      {projects.map((one) => !protectionOf(one).drafts() && <SkipsFreezes key={one} project={one} flags={flags} named={projects.length > 1} />)}
      {both && <h3>Archived at once ({number(direct.length)})</h3>}
      <ArchiveList flags={both ? direct : ordered} />
      {both && (
        <>
          <h3>Added to your draft ({number(drafted.length)})</h3>
          <ArchiveList flags={drafted} />
        </>
      )}
    </ConfirmDialog>
  )
}

function ArchiveList({ flags }: Pick<ArchiveDialogProps, 'flags'>) {
  return (
    <>
      <ul className="flags-failures" aria-label="Flags to archive" tabIndex={0}>
        {flags.slice(0, shown).map((flag) => (
          <li key={flag.name} className="break">
            <span className="strong">{flag.name}</span>
            <div className="soft small">
              <OnIn flag={flag} /> · <Used at={lastSeen(flag)} />
            </div>
          </li>
        ))}
      </ul>
      <More count={flags.length} />
    </>
  )
}

type Archived = ArchiveDialogProps['flags'][number]

const isLive = (flag: Pick<ArchiveDialogProps['flags'][number], 'environments'>) => flag.environments.some((one) => one.enabled && isProduction(one))

/** Warns that some of the flags of a question are on in production. */
export function OnInProduction({ flags }: Pick<ArchiveDialogProps, 'flags'>) {
  const live = flags.filter(isLive).length
  if (live === 0) return null
  return (
    <Notice kind="warn">
      {flags.length === 1 ? 'The flag is on in production.' : `${plural(live, 'flag')} ${live === 1 ? 'is' : 'are'} on in production.`}
    </Notice>
  )
}

function OnIn({ flag }: { flag: ArchiveDialogProps['flags'][number] }) {
  const on = flag.environments.filter((one) => one.enabled)
  if (on.length === 0) return <>Off in all environments</>
  return (
    <>
      On in{' '}
      {on.map((one, index) => (
        <span key={one.name}>
          {index > 0 && ', '}
          {one.name} <ProductionMark type={one.type} />
        </span>
      ))}
    </>
  )
}

function Used({ at }: { at: string | null }) {
  if (!at) return <>not used yet</>
  return (
    <span className={clock.now() - Date.parse(at) < inUse ? 'flags-used' : undefined}>
      last used <DateTime value={at} noted={usesNoted} />
    </span>
  )
}

/** The names of flags that a dialog is about. */
export function FlagNames({ names }: { names: readonly string[] }) {
  return (
    <>
      <ul className="flags-failures" aria-label="Flags" tabIndex={0}>
        {names.slice(0, shown).map((name) => (
          <li key={name} className="strong break">
            {name}
          </li>
        ))}
      </ul>
      <More count={names.length} />
    </>
  )
}

function More({ count }: { count: number }) {
  return count > shown ? <p className="soft small">{number(count - shown)} more are not shown.</p> : null
}
