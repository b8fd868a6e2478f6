import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMe, type Schema } from '../api'
import { Button, DateTime, Icons, LinkButton, listed, plural } from '../ui'
import { countChanges, isDraftOf, pendingQuery, quotedTitle, type ChangeRequest } from './data'
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

interface DraftBarProps {
  project: string
  /** Only the drafts that change this flag. */
  flag?: string
  /** The page shows drafts and direct changes in their places. */
  inPlace?: boolean
}

const shownNames = 3

// The first flags and segments of a draft.
function firstOf({ features, segments }: ChangeRequest) {
  const names = [...features, ...segments].map(({ name }) => name)
  return names.length > shownNames ? [...names.slice(0, shownNames), `${names.length - shownNames} more`] : names
}

/** Freezes, the caller's drafts of a project, and where it changes directly. */
export function DraftBar({ project, flag, inPlace }: DraftBarProps) {
  const protection = useProtection(project)
  const me = useMe().user?.id
  const on = protection.environments.length > 0
  const pending = useQuery({ ...pendingQuery(project), enabled: on }).data ?? []
  const concerns = (one: ChangeRequest) => flag === undefined || one.features.some(({ name }) => name === flag)
  const drafts = on && !inPlace ? pending.filter((one) => isDraftOf(one, me) && countChanges(one) > 0 && concerns(one)) : []
  const direct = inPlace ? [] : protection.environments.filter((one) => protection.isDirect(one.environment))
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
            has <span className="strong number">{plural(countChanges(draft), 'change')}</span> for {draft.environment}
            {flag === undefined && `: ${listed(firstOf(draft))}`}
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
      {direct.map(({ environment }) => (
        <div key={environment} className="draft-bar draft-bar-direct" role="status">
          <Icons.Warning />
          <span className="grow break">
            {protection.emergency(environment) && <span className="strong">Emergency: </span>}
            Change requests are bypassed in {environment}.{protection.emergency(environment) && ` The log has the reason: ${protection.emergency(environment)}`}
          </span>
          <Button size="small" onClick={() => setDirect(project, environment, false)} aria-label={`Stop changing ${environment} directly`}>
            Use change requests again
          </Button>
        </div>
      ))}
    </>
  )
}
