import { accountName, type Schema } from '../../api'

type Role = Pick<Schema<'Role'>, 'id' | 'name'>

/** A person or a service account, as the lists of users have it. */
export interface Account {
  id: number
  name?: string
  username?: string
  email?: string
}

/** The members whose name, user name or email address contains the text, sorted by name. */
export function findMembers<Member extends Account>(members: readonly Member[], text: string): Member[] {
  const wanted = text.trim().toLowerCase()
  return members
    .filter((member) => [member.name, member.username, member.email].some((value) => (value ?? '').toLowerCase().includes(wanted)))
    .sort((a, b) => accountName(a).localeCompare(accountName(b), 'en', { sensitivity: 'base', numeric: true }))
}

/** The names of roles as a text: 'Member and Deployer'. */
export function describeRoles(ids: readonly number[], roles: readonly Role[]): string {
  const names = ids.map((id) => roles.find((role) => role.id === id)?.name ?? `role ${id}`)
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(names)
}

/** The roles to add and to remove to get from the ones to the others. */
export function roleChanges(before: readonly number[], after: readonly number[]): { added: number[]; removed: number[] } {
  return { added: after.filter((id) => !before.includes(id)), removed: before.filter((id) => !after.includes(id)) }
}
