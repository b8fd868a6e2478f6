import { useQuery } from '@tanstack/react-query'
import { send, type Schema } from './client'
import { accountName } from './people'
import { permissionText, reviewPermissions } from './permissions'
import { apiQuery } from './query'

/** Whether something is allowed, and if not, why, as a sentence for a disabled control. */
export interface Allowed {
  allowed: boolean
  /** Absent if allowed: <Button disabledReason={can('X').reason}> needs no condition. */
  reason?: string
}

/** Checks permissions as the server does: ADMIN includes all, and a permission holds in its project and environment. */
export function checkPermission(permissions: Schema<'PermissionOfMe'>[], permission: string, project?: string, environment?: string): Allowed {
  const allowed = permissions.some(
    (held) =>
      held.permission === 'ADMIN' ||
      (held.permission === permission &&
        (!held.project || held.project === '*' || held.project === project) &&
        (!held.environment || held.environment === '*' || held.environment === environment)),
  )
  if (allowed) return { allowed }
  if (permission === 'ADMIN') return { allowed, reason: 'Only administrators can do this.' }
  const where = (project ? ` in project ${project}` : '') + (environment ? ` and environment ${environment}` : '')
  const whom = project && !reviewPermissions.includes(permission) ? 'an owner of the project or an administrator' : 'an administrator'
  return { allowed, reason: `You need the permission ${permissionText(permission)}${where}. Ask ${whom}.` }
}

/** The signed-in user and its permissions. */
export function useMe() {
  const query = useQuery({ ...apiQuery('/api/admin/user'), staleTime: 60_000 })
  const permissions = query.data?.permissions ?? []
  const user = query.data?.user
  return {
    query,
    user,
    /** Empty while it is being read. */
    name: user ? accountName(user) : '',
    /** can('UPDATE_FEATURE', project).allowed; pass .reason to disabledReason. Until the permissions are known nothing is allowed. */
    can: (permission: string, project?: string, environment?: string): Allowed =>
      query.data ? checkPermission(permissions, permission, project, environment) : { allowed: false, reason: 'Your permissions are loading.' },
    isAdmin: permissions.some((held) => held.permission === 'ADMIN'),
  }
}

/** The ways to sign in, of GET /auth/methods. */
export interface SignInMethods {
  /** No sign-in is needed (AUTH_TYPE=none). */
  open: boolean
  link: boolean
  oidc: { name: string; url: string } | null
}

/** The ways to sign in. */
export function useSignInMethods() {
  return useQuery({
    queryKey: ['/auth/methods'],
    queryFn: async ({ signal }) => (await send<SignInMethods>('get', '/auth/methods', { signal, quiet: true })).body,
    staleTime: Infinity,
  })
}
