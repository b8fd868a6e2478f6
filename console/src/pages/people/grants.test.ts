import { expect, test } from 'vitest'
import { permissionWords } from '../../api/permissions'
import { grantsFor, holds, permissionsOf, thingsOf, toggled } from './grants'

const create = (environment: string) => ({ name: 'CREATE_FEATURE_STRATEGY', environment })

test('adds and removes a grant', () => {
  const grants = toggled([], create('development'), true)
  expect(holds(grants, create('development'))).toBe(true)
  expect(holds(grants, create('production'))).toBe(false)
  expect(toggled(grants, create('development'), false)).toEqual([])
})

test('a grant is there once', () => {
  expect(toggled([create('development')], create('development'), true)).toEqual([create('development')])
})

test('a permission in all environments replaces those in each', () => {
  const other = { name: 'DELETE_FEATURE_STRATEGY', environment: 'development' }
  expect(toggled([create('development'), create('production'), other], create(''), true)).toEqual([other, create('')])
})

test('removing it in one environment keeps the others', () => {
  expect(toggled([create('development'), create('production')], create('development'), false)).toEqual([create('production')])
})

test('the API takes no empty environment', () => {
  expect(permissionsOf([create(''), create('test')])).toEqual([{ name: 'CREATE_FEATURE_STRATEGY' }, { name: 'CREATE_FEATURE_STRATEGY', environment: 'test' }])
})

test('a project role has no permissions in the whole service', () => {
  const root = [{ id: 1, name: 'CREATE_PROJECT', displayName: 'Create projects', type: 'root' }]
  const grants = [{ name: 'CREATE_PROJECT', environment: '' }, create('')]
  expect(grantsFor('custom', grants, root)).toEqual([create('')])
  expect(grantsFor('root-custom', grants, root)).toEqual(grants)
})

test('permissions are grouped by thing', () => {
  const of = (...names: string[]) =>
    thingsOf(names.map((name) => ({ id: 1, name, displayName: permissionWords[name]!, type: 'root' as const }))).map(({ thing, of }) => [
      thing,
      Object.keys(of).join(),
    ])
  expect(of('CREATE_FEATURE', 'UPDATE_FEATURE', 'DELETE_FEATURE', 'MOVE_FEATURE_TOGGLE')).toEqual([
    ['Flags', 'Create,Change,Delete'],
    [permissionWords.MOVE_FEATURE_TOGGLE, ''],
  ])
  expect(of('CREATE_ENVIRONMENT', 'UPDATE_ENVIRONMENT', 'UPDATE_APPLICATION', 'READ_ROLE')).toEqual([
    ['Environments', 'Create,Change'],
    [permissionWords.UPDATE_APPLICATION, ''],
    ['Roles', 'Read'],
  ])
  expect(of('PROJECT_CHANGE_REQUEST_READ', 'PROJECT_CHANGE_REQUEST_WRITE', 'RELEASE_PLAN_TEMPLATE_CREATE')).toEqual([
    ['Change request settings of the project', 'Read,Change'],
    ['Release templates', 'Create'],
  ])
})
