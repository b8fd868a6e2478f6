import { accountName, api, apiKey, useChange, type Schema } from '../../api'
import { describeRoles, roleChanges } from './members'

type Member = Schema<'Member'>

const invalidates = ['/api/admin/projects', '/api/admin/user']
const rolePath = '/api/admin/projects/{projectId}/users/{userId}/roles/{roleId}'

/** Gives a user other roles. One role replaces all others in one request. Else the new ones come first, so that the user keeps access. */
async function setRoles(projectId: string, userId: number, before: readonly number[], after: readonly number[]) {
  const [only] = after
  if (only !== undefined && after.length === 1 && before.length > 0) return api.put(rolePath, { path: { projectId, userId, roleId: only } })
  const { added, removed } = roleChanges(before, after)
  for (const roleId of added) await api.post(rolePath, { path: { projectId, userId, roleId } })
  for (const roleId of removed) await api.delete(rolePath, { path: { projectId, userId, roleId } })
}

/** Gives a member other roles. */
export function useSetRoles(projectId: string, roles: readonly Schema<'Role'>[]) {
  return useChange({
    change: ({ member, next }: { member: Member; next: number[] }) => setRoles(projectId, member.id, member.roles, next),
    optimistic: ({ member, next }) => [
      {
        key: apiKey('/api/admin/projects/{projectId}/access', { path: { projectId } }),
        update: (old: Schema<'Access'>) => ({ ...old, users: old.users.map((user) => (user.id === member.id ? { ...user, roles: next } : user)) }),
      },
    ],
    invalidates,
    success: (_, { member, next }) => `${accountName(member)} is now ${describeRoles(next, roles)}.`,
    undo: ({ member, next }) => setRoles(projectId, member.id, next, member.roles),
  })
}

/** Removes a member with all its roles. */
export function useRemoveMember(projectId: string) {
  return useChange({
    change: (member: Member) => setRoles(projectId, member.id, member.roles, []),
    invalidates,
    success: (_, member) => `${accountName(member)} is no longer a member.`,
    undo: (member) => setRoles(projectId, member.id, [], member.roles),
  })
}
