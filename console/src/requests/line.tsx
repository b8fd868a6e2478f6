import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
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
}

/** Says what happens to a change in a protected environment, and lets those who may choose to change directly. Nothing elsewhere. */
export function ProtectionLine({ project, environment, named, feature }: LineProps) {
  const protection = useProtection(project)
  const { can, isAdmin } = useMe()
  const [asking, setAsking] = useState(false)
  const found = protection.of(environment)
  if (!found) return null
  const direct = protection.isDirect(environment)
  const skips = !found.nobodySkips && can('SKIP_CHANGE_REQUEST', project, environment).allowed
  return (
    <div className="protection">
      <ProtectedMark />
      <span className="grow">
        {direct
          ? `You change ${named ? `${environment} of project ${project}` : 'this environment'} directly.`
          : `Changes ${named ? `for ${environment} of project ${project}` : 'here'} are added to a draft, and need ${plural(found.requiredApprovals, 'approval')}.`}
        {found.offAllowed && !direct && ' Switching off needs none, unless other flags depend on the flag.'}
        {feature && <OpenRequests project={project} environment={environment} feature={feature} />}
      </span>
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

function OpenRequests({ project, environment, feature }: { project: string; environment: string; feature: string }) {
  const me = useMe().user?.id
  const open = (useQuery(pendingOfFlag(project, feature)).data ?? []).filter((one) => one.environment === environment)
  return open.map((one) => (
    <span key={one.id}>
      {' '}
      <Link to="/projects/$projectId/change-requests/$requestId" params={{ projectId: project, requestId: String(one.id) }} className="break">
        {isDraftOf(one, me) ? 'Your draft' : quotedTitle(one)}
      </Link>{' '}
      changes this flag.
    </span>
  ))
}
