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
