import { expect, it } from 'vitest'
import { describeRoles, findMembers, roleChanges } from './members'

const roles = [
  { id: 4, name: 'Owner' },
  { id: 5, name: 'Member' },
]

it('finds members by name, user name and email address, sorted by name', () => {
  const members = [
    { id: 1, name: 'Cleo' },
    { id: 2, name: 'anna', email: 'x@example.com' },
    { id: 3, username: 'bo' },
  ]
  expect(findMembers(members, '').map(({ id }) => id)).toEqual([2, 3, 1])
  expect(findMembers(members, ' X@EXAMPLE ').map(({ id }) => id)).toEqual([2])
  expect(findMembers(members, 'bo').map(({ id }) => id)).toEqual([3])
})

it('describes roles, also one that was deleted', () => {
  expect(describeRoles([4, 5], roles)).toBe('Owner and Member')
  expect(describeRoles([9], roles)).toBe('role 9')
})

it('finds the roles to add and to remove', () => {
  expect(roleChanges([4, 5], [5, 6])).toEqual({ added: [6], removed: [4] })
  expect(roleChanges([], [5])).toEqual({ added: [5], removed: [] })
})
