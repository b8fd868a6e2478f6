import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMe, type Schema } from '../api'
import { Button, DateTime, Icons, LinkButton, ProductionMark, plural } from '../ui'
import { countChanges, isDraftOf, pendingQuery, quotedTitle } from './data'
import { setDirect, useProtection } from './drafts'
import type { ReactNode } from 'react'
import './requests.css'

type FreezeBarProps = Omit<Schema<'Held'>, 'id'> & {
  /** What that means. */
  children: ReactNode
}

/** Says that an environment is frozen, until when and why. */
export function FreezeBar({ environment, until, reason, children }: FreezeBarProps) {
  return (
    <div className="draft-bar draft-bar-frozen" role="status">
      <Icons.Clock />
      <span className="grow break">
        <span className="strong">{environment} is frozen</span> until <DateTime value={until} absolute />: {reason} <span className="soft">{children}</span>
      </span>
    </div>
  )
}

/** Freezes, the caller's drafts of a project, and where it changes directly. */
export function DraftBar({ project }: { project: string }) {
  const protection = useProtection(project)
  const me = useMe().user?.id
  const on = protection.environments.length > 0
  const pending = useQuery({ ...pendingQuery(project), enabled: on }).data ?? []
  const drafts = on ? pending.filter((one) => isDraftOf(one, me) && countChanges(one) > 0) : []
  const direct = protection.environments.filter((one) => protection.isDirect(one.environment))
  return (
    <>
      {protection.frozen.map(({ environment, until, reason, offAllowed }) => (
        <FreezeBar key={environment} environment={environment} until={until} reason={reason}>
          {offAllowed ? 'Flags can only be switched off, unless others depend on them.' : 'Flags cannot change.'} Approved change requests wait.
        </FreezeBar>
      ))}
      {drafts.map((draft) => (
        <div key={draft.id} className="draft-bar" role="status">
          <Icons.Edit />
          <span className="grow break">
            <Link to="/projects/$projectId/change-requests/$requestId" params={{ projectId: project, requestId: String(draft.id) }} className="strong">
              {draft.title ? quotedTitle(draft) : 'Your draft'}
            </Link>{' '}
            has <span className="strong number">{plural(countChanges(draft), 'change')}</span> for {draft.environment}{' '}
            <ProductionMark type={protection.of(draft.environment)?.type ?? ''} /> <span className="soft">Nothing has changed there yet.</span>
          </span>
          <LinkButton
            size="small"
            variant="primary"
            to="/projects/$projectId/change-requests/$requestId"
            params={{ projectId: project, requestId: String(draft.id) }}
          >
            Review and send
          </LinkButton>
        </div>
      ))}
      {direct.map(({ environment, type }) => (
        <div key={environment} className="draft-bar draft-bar-direct" role="status">
          <Icons.Warning />
          <span className="grow break">
            {protection.emergency(environment) && <span className="strong">Emergency: </span>}
            You change {environment} <ProductionMark type={type} /> directly, without a change request.
            {protection.emergency(environment) && ` The log has the reason: ${protection.emergency(environment)}`}
          </span>
          <Button size="small" onClick={() => setDirect(project, environment, false)} aria-label={`Stop changing ${environment} directly`}>
            Use change requests again
          </Button>
        </div>
      ))}
    </>
  )
}
