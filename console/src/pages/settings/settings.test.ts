import { describe, expect, test } from 'vitest'
import { eventLabel, groupEvents, usualEvents } from './eventgroups'
import { addLegalValues } from './legalvalues'
import { moved, positions } from './order'
import { pageOf, search } from './paged'

describe('groups of events', () => {
  test('have each type once, in the group that it belongs to', () => {
    const groups = groupEvents([
      'user-created',
      'feature-created',
      'project-user-added',
      'strategy-order-changed',
      'strategy-created',
      'invented',
      'feature-created',
    ])
    expect(groups).toEqual([
      { label: 'Flags', types: ['feature-created', 'strategy-order-changed'] },
      { label: 'Users, roles and access', types: ['user-created', 'project-user-added'] },
      { label: 'Strategy types', types: ['strategy-created'] },
      { label: 'Other', types: ['invented'] },
    ])
  })
  test('the usual events are events of flags', () => {
    expect(groupEvents(usualEvents).map((group) => group.label)).toEqual(['Flags'])
  })
  test.each([
    ['feature-environment-enabled', 'Flag switched on'],
    ['addon-config-created', 'Webhook created'],
    ['addon-test', 'Webhook test'],
    ['segment-created', 'Segment created'],
  ])('%s is called %s', (type, label) => {
    expect(eventLabel(type)).toBe(label)
  })
})

test('added legal values keep the meanings of known ones', () => {
  expect(addLegalValues([{ value: 'NO', description: 'Norway' }], ['SE', 'NO', 'SE', ''])).toEqual([
    { value: 'NO', description: 'Norway' },
    { value: 'SE', description: '' },
  ])
})

test('an item is moved, and positions start at 1', () => {
  expect(moved(['a', 'b', 'c'], 0, 1)).toEqual(['b', 'a', 'c'])
  expect(moved(['a', 'b', 'c'], 2, 1)).toEqual(['a', 'c', 'b'])
  expect(positions(['b', 'a'])).toEqual({ b: 1, a: 2 })
})

test('a page beyond the rows is the last page', () => {
  const rows = Array.from({ length: 120 }, (_, index) => index)
  expect(pageOf(rows, 50).rows).toHaveLength(50)
  expect(pageOf(rows, 500)).toEqual({ rows: rows.slice(100), offset: 100 })
  expect(pageOf([], 50)).toEqual({ rows: [], offset: 0 })
  expect(pageOf(rows, -3).offset).toBe(0)
})

test('a search ignores case and absent texts', () => {
  const rows = [
    { name: 'Beta', note: null },
    { name: 'staff', note: 'BETA too' },
    { name: 'other', note: undefined },
  ]
  expect(search(rows, ' beta ', (row) => [row.name, row.note])).toHaveLength(2)
  expect(search(rows, '', (row) => [row.name])).toHaveLength(3)
})
