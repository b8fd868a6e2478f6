// @vitest-environment node
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { errorText } from './errors'
import { fullDate } from '../ui/dates'
import { checkPermission } from './me'
import { permissionWords, reviewPermissions } from './permissions'

const held = [
  { permission: 'CREATE_SEGMENT' },
  { permission: 'UPDATE_FEATURE', project: 'shop' },
  { permission: 'UPDATE_FEATURE_ENVIRONMENT', project: 'shop', environment: 'development' },
]

test.each([
  ['CREATE_SEGMENT', undefined, undefined, true],
  ['CREATE_SEGMENT', 'any', undefined, true],
  ['DELETE_SEGMENT', undefined, undefined, false],
  ['UPDATE_FEATURE', 'shop', undefined, true],
  ['UPDATE_FEATURE', 'other', undefined, false],
  ['UPDATE_FEATURE_ENVIRONMENT', 'shop', 'development', true],
  ['UPDATE_FEATURE_ENVIRONMENT', 'shop', 'production', false],
])('%s in %s and %s: %s', (permission, project, environment, allowed) => {
  expect(checkPermission(held, permission, project, environment).allowed).toBe(allowed)
})

test('the administrator may do everything', () => {
  expect(checkPermission([{ permission: 'ADMIN' }], 'ANYTHING', 'x', 'y')).toEqual({ allowed: true })
})

test('the reason names what is missing', () => {
  expect(checkPermission([], 'UPDATE_FEATURE_ENVIRONMENT', 'shop', 'production').reason).toBe(
    'You need the permission “Enable and disable flags” in project shop and environment production. Ask an owner of the project or an administrator.',
  )
  expect(checkPermission([], 'APPLY_CHANGE_REQUEST', 'shop', 'production').reason).toBe(
    'You need the permission “Apply change requests” in project shop and environment production. Ask an administrator.',
  )
  expect(checkPermission([], 'CREATE_SEGMENT').reason).toBe('You need the permission “Create segments”. Ask an administrator.')
  expect(errorText(new Error('carla needs the permission READ_ROLE'))).toBe('carla needs the permission “Read roles”.')
  expect(errorText(new Error('the permission NOSUCH_ONE'))).toBe('The permission NOSUCH_ONE.')
  const until = '2026-12-05T14:00:00Z'
  expect(errorText(new Error(`frozen until ${until}: Holidays`))).toBe(`Frozen until ${fullDate(new Date(until))}: Holidays.`)
})

test('permissions have the words of the server', () => {
  const source = readFileSync(new URL('../../../pkg/access/permission.go', import.meta.url), 'utf8')
  const constants = new Map([...source.matchAll(/(\w+)\s+Permission = "([A-Z_]+)"/g)].map((match) => [match[1], match[2]!]))
  const rows = [...source.matchAll(/\{(\w+), "([^"]+)", \w+Scope\}/g)].map((match) => [constants.get(match[1]), match[2]])
  expect(rows.length).toBeGreaterThan(40)
  expect(permissionWords).toEqual(Object.fromEntries(rows))
  const review = /reviewPermissions = \[\]Permission\{(.+)\}/.exec(source)![1]!.split(', ')
  expect(reviewPermissions).toEqual(review.map((name) => constants.get(name)))
})
