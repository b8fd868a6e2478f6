import type { Allowed, useMe } from '../../api'

type Me = Pick<ReturnType<typeof useMe>, 'can' | 'query'>

const anyOf = ['CREATE_SEGMENT', 'UPDATE_SEGMENT', 'DELETE_SEGMENT']

/** Whether a segment of the project, or of all projects, may be changed: by one of three permissions, or by one in the project. */
export function canChangeSegment(me: Me, project?: string | null): Allowed {
  if (anyOf.some((permission) => me.can(permission).allowed)) return { allowed: true }
  return project ? me.can('UPDATE_PROJECT_SEGMENT', project) : me.can('UPDATE_SEGMENT')
}

/** Whether a segment may be created, at least in one project. */
export function canCreateSegment(me: Me): Allowed {
  const inProject = me.query.data?.permissions.some((held) => held.permission === 'UPDATE_PROJECT_SEGMENT')
  return inProject ? { allowed: true } : canChangeSegment(me)
}
