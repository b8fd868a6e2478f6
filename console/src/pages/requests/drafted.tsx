// What the caller's draft does to a flag, shown where it will be.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, useChange, useMe } from '../../api'
import { at, isDraftOf, pendingQuery, requestPath, requestQuery, touchedRequests, versionOf, type ChangeRequest } from '../../requests/data'
import { useProtection } from '../../requests/drafts'
import { Badge } from '../../ui'
import { ChangeText } from '../../ui/changes'
import type { Flag } from '../flag/data'
import { useSegmentNames } from '../flag/strategy/list'
import { differencesOf } from '../insight/eventtext'
import { shownChanges, type ShownChange } from './present'

/** What the caller's draft changes of a flag in an environment. */
export interface Drafted {
  /** The note of a strategy: in draft, 25% → 50%. Undefined if the draft does not change it. */
  of: (strategyId: string) => ReactNode
  /** The switch, and what takes it out of the draft; undefined if the draft does not switch the flag. */
  flip?: { note: ReactNode; takeOut: () => void }
  /** The rest, such as a new strategy; undefined if there is none. */
  rest?: string
}

/** Reads the caller's draft for an environment. */
export function useDrafted(flag: Flag, environment: string): Drafted {
  const me = useMe().user?.id
  const names = useSegmentNames()
  const on = useProtection(flag.project).of(environment) !== undefined
  const pending = useQuery({ ...pendingQuery(flag.project), enabled: on }).data ?? []
  const id = pending.find((one) => isDraftOf(one, me) && one.environment === environment)?.id
  const draft = useQuery({ ...requestQuery(flag.project, id ?? 0), enabled: id !== undefined }).data
  const changes = (id !== undefined && draft?.features.find(({ name }) => name === flag.name)?.changes) || []
  const takeOut = useChange({
    change: (of: { draft: ChangeRequest; changeId: number }) =>
      api.delete(`${requestPath}/changes/{changeId}`, { path: { ...at(of.draft), changeId: of.changeId }, ifMatch: versionOf(of.draft) }),
    invalidates: touchedRequests,
    success: 'Taken out of your draft',
  })
  if (!draft || changes.length === 0) return { of: () => undefined }
  const shown = shownChanges(changes, flag, environment, names)
  const idOf = (index: number) => (changes[index]!.payload as { id?: string } | undefined)?.id
  const present = new Set(flag.environments.find(({ name }) => name === environment)?.strategies.map((one) => one.id))
  const flip = changes.find(({ action }) => action === 'updateEnabled')
  const rest = shown.filter((_, index) => !present.has(idOf(index) ?? '') && changes[index] !== flip)
  return {
    of: (strategyId) => {
      const mine = shown.filter((_, index) => idOf(index) === strategyId)
      return mine.length > 0 && <DraftNote draft={draft}>{mine.map(short)}</DraftNote>
    },
    flip: flip && {
      note: <DraftNote draft={draft}>{[(flip.payload as { enabled?: boolean }).enabled ? 'Switch on' : 'Switch off']}</DraftNote>,
      takeOut: () => takeOut.mutate({ draft, changeId: flip.id }),
    },
    rest: rest.map(({ text }) => text).join(' · ') || undefined,
  }
}

function short({ text, before, after }: ShownChange): ReactNode {
  const changes = before && after ? differencesOf(before, after) : []
  if (changes.length === 0) return text.split(':')[0]
  return changes.map((change, index) => (
    <span key={index}>
      {index > 0 && ' · '}
      <ChangeText change={change} />
    </span>
  ))
}

function DraftNote({ draft, children }: { draft: ChangeRequest; children: ReactNode[] }) {
  return (
    <span className="draft-note break" role="status">
      <Link to="/projects/$projectId/change-requests/$requestId" params={{ projectId: draft.project, requestId: String(draft.id) }}>
        <Badge kind="accent">In draft</Badge>
      </Link>{' '}
      {children.map((text, index) => (
        <span key={index}>
          {index > 0 && ' · '}
          {text}
        </span>
      ))}
    </span>
  )
}
