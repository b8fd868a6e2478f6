// @vitest-environment node
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { changeText, changesOf, eventTitle, eventTypes } from './eventtext'

const event = {
  id: 1,
  type: 'feature-strategy-update',
  createdAt: '',
  createdBy: 'admin',
  createdByUserId: 1,
  environment: 'production',
  featureName: 'f',
  project: 'default',
  tags: [],
  preData: null,
  data: null,
}

test('a changed value is named with its path', () => {
  const preData = { name: 'flexibleRollout', parameters: { rollout: '10', groupId: 'f' }, constraints: [] }
  const data = { name: 'flexibleRollout', parameters: { rollout: '50', groupId: 'f' }, constraints: [{ contextName: 'plan' }] }
  expect(changesOf({ preData, data } as never)).toEqual({
    changes: [
      { path: 'parameters › rollout', before: '10', after: '50' },
      { path: 'constraints', before: 'nothing', after: '1 entry' },
    ],
    more: 0,
  })
  expect(changeText({ ...event, preData, data } as never)).toBe('Strategy changed in production: parameters › rollout 10 → 50, constraints nothing → 1 entry')
})

test('only three changes are named, and the others counted', () => {
  const { changes, more } = changesOf({ preData: { a: 1, b: 1, c: 1, d: 1, e: 1 }, data: { a: 2, b: 2, c: 2, d: 2, e: 1 } } as never)
  expect(changes.map(({ path }) => path)).toEqual(['a', 'b', 'c'])
  expect(more).toBe(1)
})

test('without a state before, or with fields that are only in one state, nothing is changed', () => {
  expect(changesOf({ preData: null, data: { a: 1 } } as never).changes).toEqual([])
  expect(changesOf({ preData: { a: 1, b: 2 }, data: { a: 1, c: 3 } } as never).changes).toEqual([])
})

test('the filter offers every type of event of the server', () => {
  const source = readFileSync(new URL('../../../../../../pkg/flags/event.go', import.meta.url), 'utf8')
  const types = [...source.matchAll(/EventType = "([a-z-]+)"/g)].map((match) => match[1]!)
  expect(types.length).toBeGreaterThan(40)
  expect(types.filter((type) => !eventTypes.includes(type))).toEqual([])
  expect(new Set(eventTypes).size).toBe(eventTypes.length)
  expect(eventTitle('segment-created')).toBe('Segment created')
})
