import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState, type ReactNode } from 'react'
import { useMe } from '../api'
import { Button, Icons, plural } from '../ui'
import { countChanges, isDraftOf, pendingOfFlag } from './data'
import { setDirect, useProtection } from './drafts'
import './requests.css'

const EmergencyDialog = lazy(() => import('./emergency'))

/** Marks an environment in which change requests are on. */
export function ProtectedMark() {
  return (
    <span title="Changes need a change request" className="protected-mark">
      <Icons.Shield />
      <span className="visually-hidden">Changes need a change request</span>
    </span>
  )
}

interface LineProps {
  project: string
  environment: string
  /** Names the environment and the project, where the page does not. */
  named?: boolean
  /** The flag whose open change requests are named. */
  feature?: string
  /** What the caller's draft changes beside what has a note of its own. */
  drafted?: string
  /** What else is to be known there. */
  children?: ReactNode
}

/**
 * One line for what happens to a change in a protected environment, the caller's draft and open change requests. Those who may can choose
 * there to change directly. Elsewhere it has only the children, and without them it is nothing.
 */
export function ProtectionLine({ project, environment, named, feature, drafted, children }: LineProps) {
  const protection = useProtection(project)
  const { can, isAdmin } = useMe()
  const [asking, setAsking] = useState(false)
  const found = protection.of(environment)
  if (!found) return children && <div className="protection">{children}</div>
  const direct = protection.isDirect(environment)
  const reason = protection.emergency(environment)
  const skips = !found.nobodySkips && can('SKIP_CHANGE_REQUEST', project, environment).allowed
  const changes = named ? `Changes for ${environment} of project ${project}` : 'Changes'
  return (
    <div className="protection">
      <ProtectedMark />
      <span>
        {direct
          ? `${changes} apply at once, without a change request.${reason ? ` The log has the reason: ${reason}` : ''}`
          : `${changes} need ${plural(found.requiredApprovals, 'approval')}${found.offAllowed ? ', switching off does not' : ''}`}
      </span>
      {feature && <OpenRequests project={project} environment={environment} feature={feature} drafted={drafted} />}
      {children}
      {direct && !named && (
        <Button size="small" variant="quiet" onClick={() => setDirect(project, environment, false)} aria-label={`Stop changing ${environment} directly`}>
          Use change requests again
        </Button>
      )}
      {skips && !direct && (
        <Button size="small" variant="quiet" onClick={() => setDirect(project, environment, true)} aria-label={`Change ${environment} directly`}>
          Change directly
        </Button>
      )}
      {found.nobodySkips && !direct && (
        <Button
          size="small"
          variant="quiet"
          icon={<Icons.Warning />}
          disabledReason={isAdmin ? undefined : 'In an emergency, an administrator can change this without a review.'}
          onClick={() => setAsking(true)}
          aria-label={`Change ${environment} in an emergency`}
        >
          Emergency…
        </Button>
      )}
      {asking && (
        <Suspense fallback={null}>
          <EmergencyDialog project={project} environment={environment} onClose={() => setAsking(false)} />
        </Suspense>
      )}
    </div>
  )
}

function OpenRequests({ project, environment, feature, drafted }: Pick<LineProps, 'project' | 'environment' | 'drafted'> & { feature: string }) {
  const me = useMe().user?.id
  const open = (useQuery(pendingOfFlag(project, feature)).data ?? []).filter((one) => one.environment === environment)
  return open.map((one) => {
    const link = { to: '/projects/$projectId/change-requests/$requestId' as const, params: { projectId: project, requestId: String(one.id) } }
    const mine = isDraftOf(one, me)
    return (
      <span key={one.id} className="break">
        {mine && (drafted ? `In your draft: ${drafted}: ` : `${plural(countChanges(one), 'change')} in your draft: `)}
        <Link {...link} className={mine ? 'strong' : undefined}>
          {mine ? 'Review and send' : one.title ? `“${one.title}”` : `Request #${one.id}`}
        </Link>
        {!mine && ` ${one.state.toLowerCase()}`}
      </span>
    )
  })
}
