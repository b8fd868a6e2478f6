import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState, type ReactNode } from 'react'
import { useMe } from '../api'
import { Button, Icons, plural } from '../ui'
import { isDraftOf, pendingOfFlag, quotedTitle } from './data'
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
  /** What the caller's draft changes beside strategies. */
  drafted?: ReactNode
}

/** Says what happens to a change in a protected environment, and lets those who may choose to change directly. Nothing elsewhere. */
export function ProtectionLine({ project, environment, named, feature, drafted }: LineProps) {
  const protection = useProtection(project)
  const { can, isAdmin } = useMe()
  const [asking, setAsking] = useState(false)
  const found = protection.of(environment)
  if (!found) return null
  const direct = protection.isDirect(environment)
  const reason = protection.emergency(environment)
  const skips = !found.nobodySkips && can('SKIP_CHANGE_REQUEST', project, environment).allowed
  return (
    <>
      <div className="protection">
        <ProtectedMark />
        <span className="grow">
          {direct
            ? `Changes ${named ? `for ${environment} of project ${project}` : 'here'} apply at once, without a change request.${reason ? ` The log has the reason: ${reason}` : ''}`
            : `Changes ${named ? `for ${environment} of project ${project}` : 'here'} are added to a draft, and need ${plural(found.requiredApprovals, 'approval')}.`}
          {found.offAllowed && !direct && ' Switching off applies at once, unless other flags depend on the flag.'}
        </span>
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
      </div>
      {feature && (
        <p className="protection-requests">
          {drafted} <OpenRequests project={project} environment={environment} feature={feature} />
        </p>
      )}
      {asking && (
        <Suspense fallback={null}>
          <EmergencyDialog project={project} environment={environment} onClose={() => setAsking(false)} />
        </Suspense>
      )}
    </>
  )
}

function OpenRequests({ project, environment, feature }: { project: string; environment: string; feature: string }) {
  const me = useMe().user?.id
  const open = (useQuery(pendingOfFlag(project, feature)).data ?? []).filter((one) => one.environment === environment)
  return open.map((one) => {
    const link = { to: '/projects/$projectId/change-requests/$requestId' as const, params: { projectId: project, requestId: String(one.id) } }
    if (isDraftOf(one, me))
      return (
        <Link key={one.id} {...link} className="strong nowrap">
          Review and send
        </Link>
      )
    return (
      <span key={one.id}>
        {' '}
        <Link {...link} className="break">
          {quotedTitle(one)}
        </Link>{' '}
        changes this flag.
      </span>
    )
  })
}
