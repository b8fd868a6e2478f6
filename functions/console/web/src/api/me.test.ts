import { expect, test } from 'vitest'
import { checkPermission } from './me'

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
    'You need the permission UPDATE_FEATURE_ENVIRONMENT in project shop and environment production. Ask an administrator.',
  )
})
