import type { Schema } from '../../api'

/** A permission of a role, in one environment or, with '', in all. */
export interface Grant {
  name: string
  environment: string
}

const same = (a: Grant, b: Grant) => a.name === b.name && a.environment === b.environment

/** Whether the role has exactly this grant. */
export const holds = (grants: readonly Grant[], grant: Grant) => grants.some((one) => same(one, grant))

/** The grants with one added or removed. A permission in all environments includes that in each. */
export function toggled(grants: readonly Grant[], grant: Grant, on: boolean): Grant[] {
  const others = grants.filter((one) => !same(one, grant) && !(on && grant.environment === '' && one.name === grant.name))
  return on ? [...others, grant] : others
}

/** The grants of a role as the API answers them. */
export function grantsOf(role: Schema<'RoleWithPermissions'>): Grant[] {
  return role.permissions.map(({ name, environment }) => ({ name, environment: environment ?? '' }))
}

/** The grants as the API takes them. */
export function permissionsOf(grants: readonly Grant[]): Schema<'RolePermissionRequest'>[] {
  return grants.map(({ name, environment }) => (environment ? { name, environment } : { name }))
}

/** The grants that a role of the type can have: a role in projects has no permissions in the whole service. */
export function grantsFor(type: string, grants: readonly Grant[], root: readonly Schema<'Permission'>[]): Grant[] {
  return isProjectRole(type) ? grants.filter((grant) => !root.some((permission) => permission.name === grant.name)) : [...grants]
}

/** Whether roles of the type are held in a project. */
export const isProjectRole = (type: string) => type === 'project' || type === 'custom'

/** Whether roles of the type are built in. */
export const isBuiltIn = (type: string) => type === 'root' || type === 'project'

/** What most permissions allow to do with a thing. */
export const verbs = ['Read', 'Create', 'Change', 'Delete'] as const
type Verb = (typeof verbs)[number]

const verbOf: Record<string, Verb> = { READ: 'Read', CREATE: 'Create', UPDATE: 'Change', WRITE: 'Change', DELETE: 'Delete' }
type Permission = Schema<'Permission'>

/** A row of permissions: one thing with what can be done with it, or one permission that is not of this form. */
export interface Thing {
  thing: string
  of: Partial<Record<Verb, Permission>>
  only?: Permission
}

/** The permissions by thing: 'Create tag types' is Create of 'Tag types'. */
export function thingsOf(permissions: readonly Permission[]): Thing[] {
  const things = new Map<string, Thing>()
  for (const permission of permissions) {
    const [, verb = ''] = /(READ|CREATE|UPDATE|DELETE|WRITE)(?:_|$)/.exec(permission.name) ?? []
    const only = { thing: permission.displayName, of: {}, only: permission }
    const key = verb ? permission.name.replace(verb, '') : permission.name
    const row = things.get(key)
    if (!verb || (!row && permission.displayName.includes(', ') && !permissions.some(({ name }) => name !== permission.name && sameThing(name, key)))) {
      things.set(key, only)
      continue
    }
    // The shortest name is that without what else belongs to one of them: 'flags', not 'flags and their tags, revive flags'.
    const rest = permission.displayName.replace(/^\w+((, \w+)* and \w+)? (the )?/, '')
    const thing = row && row.thing.length <= rest.length ? row.thing : rest.charAt(0).toUpperCase() + rest.slice(1)
    things.set(key, { thing, of: { ...row?.of, [verbOf[verb]!]: permission } })
  }
  return [...things.values()]
}

const sameThing = (name: string, key: string) => Object.keys(verbOf).some((verb) => name.replace(verb, '') === key)
