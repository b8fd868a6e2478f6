import type { Allowed, Schema, useMe } from '../../api'

type Me = Pick<ReturnType<typeof useMe>, 'can' | 'query'>
type Token = Pick<Schema<'ApiToken'>, 'type' | 'projects'>

/** The type that says what a token can do: backend is another name for client. */
export function rightsOf(type: string): string {
  return type === 'backend' ? 'client' : type
}

/** The types of tokens that the caller can create: here, or in the project. */
export function creatableTypes(me: Me, project?: string): ('client' | 'frontend' | 'admin')[] {
  const inProject = holdsInProjects(me, project)
  const may = (type: 'CLIENT' | 'FRONTEND') => inProject || me.can(`CREATE_${type}_API_TOKEN`).allowed
  return [
    ...(may('CLIENT') ? ['client' as const] : []),
    ...(may('FRONTEND') ? ['frontend' as const] : []),
    ...(!project && me.can('ADMIN').allowed ? ['admin' as const] : []),
  ]
}

/** Whether the caller can create a token of some type. */
export function canCreateToken(me: Me, project?: string): Allowed {
  if (creatableTypes(me, project).length > 0) return { allowed: true }
  return project ? me.can('CREATE_PROJECT_API_TOKEN', project) : me.can('CREATE_CLIENT_API_TOKEN')
}

/** Whether the caller can delete or change a token: by a permission for its type, or for the tokens of all its projects. */
export function canChangeToken(me: Me, verb: 'DELETE' | 'UPDATE', token: Token, project?: string): Allowed {
  if (token.type === 'admin') return me.can('ADMIN')
  const forType = me.can(`${verb}_${rightsOf(token.type).toUpperCase()}_API_TOKEN`)
  if (forType.allowed && !project) return forType
  if (token.projects.includes('*')) return forType
  const refused = token.projects.map((one) => me.can(`${verb}_PROJECT_API_TOKEN`, one)).find((one) => !one.allowed)
  return refused ?? { allowed: true }
}

/** The projects of a token in words. */
export function placeOf({ projects: ids }: Pick<Token, 'projects'>, names?: ReadonlyMap<string, string>): string {
  const most = 3
  if (ids.includes('*')) return 'All'
  const projects = ids.map((id) => names?.get(id) ?? id)
  return projects.length <= most ? projects.join(', ') : `${projects.slice(0, most).join(', ')} and ${projects.length - most} more`
}

function holdsInProjects(me: Me, project?: string): boolean {
  if (project) return me.can('CREATE_PROJECT_API_TOKEN', project).allowed
  return Boolean(me.query.data?.permissions.some((held) => held.permission === 'CREATE_PROJECT_API_TOKEN'))
}
