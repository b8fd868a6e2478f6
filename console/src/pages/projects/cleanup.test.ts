import { expect, test } from 'vitest'
import { cleanUpReason, everyoneReason, isForEveryone, mayBeForEveryone } from './cleanup'

const now = new Date('2026-06-30T12:00:00Z')
const lifetimes = new Map([
  ['release', 40],
  ['kill-switch', null],
])
const row = (more: object = {}) =>
  ({
    name: 'f',
    type: 'release',
    stale: false,
    createdAt: '2026-06-01T00:00:00Z',
    lifecycle: { stage: 'live', enteredStageAt: '2026-05-01T00:00:00Z' },
    environments: [{ name: 'production', type: 'production', enabled: true, lastSeenAt: '2026-06-30T11:00:00Z' }],
    ...more,
  }) as never
const unused = (lastSeenAt: string | null) => [{ name: 'production', type: 'production', enabled: true, lastSeenAt }]

test.each([
  [{}, ''],
  [{ stale: true }, 'Marked as stale'],
  [{ lifecycle: { stage: 'completed', enteredStageAt: '2026-06-29T00:00:00Z' } }, 'Completed'],
  [{ createdAt: '2026-05-01T12:00:00Z', environments: unused(null) }, 'Never used in 60 days'],
  [{ environments: unused(null) }, ''],
  [{ createdAt: '2026-05-25T12:00:00Z', environments: unused('2026-05-27T12:00:00Z') }, 'Not used for 34 days'],
  [{ createdAt: '2026-05-01T12:00:00Z' }, '60 days old; flags of this type are expected to last 40 days'],
  [{ createdAt: '2026-05-01T12:00:00Z', type: 'kill-switch' }, ''],
])('%j can go: %s', (more, want) => expect(cleanUpReason(row(more), lifetimes, now)).toBe(want))

test('only live flags that do not stay are read for their strategies', () => {
  expect(mayBeForEveryone(row(), lifetimes, now)).toBe(true)
  expect(mayBeForEveryone(row({ type: 'kill-switch' }), lifetimes, now)).toBe(false)
  expect(mayBeForEveryone(row({ lifecycle: { stage: 'live', enteredStageAt: '2026-06-20T00:00:00Z' } }), lifetimes, now)).toBe(false)
  expect(mayBeForEveryone(row({ environments: [] }), lifetimes, now)).toBe(false)
})

const strategy = (more: object = {}) => ({
  name: 'flexibleRollout',
  disabled: false,
  constraints: [],
  segments: [],
  parameters: { rollout: '100', stickiness: 'default' },
  ...more,
})
const flag = (strategies: object[], enabled = true) =>
  ({
    environments: [
      { type: 'development', enabled: false, strategies: [] },
      { type: 'production', enabled, strategies },
    ],
  }) as never

test.each([
  [[strategy()], true],
  [[strategy({ name: 'default', parameters: {} })], true],
  [[strategy({ parameters: { rollout: '99' } }), strategy()], true],
  [[strategy({ parameters: { rollout: '99' } })], false],
  [[strategy({ parameters: { rollout: '100', stickiness: 'company' } })], false],
  [[strategy({ disabled: true })], false],
  [[strategy({ segments: [1] })], false],
  [[strategy({ constraints: [{}] })], false],
  [[], false],
])('%j is for everyone: %s', (strategies, want) => expect(isForEveryone(flag(strategies))).toBe(want))

test('on for everyone counts when it has been so for a while', () => {
  expect(isForEveryone(flag([strategy()], false))).toBe(false)
  expect(everyoneReason('2026-06-20T00:00:00Z', now)).toBe('')
  expect(everyoneReason('2026-05-01T12:00:00Z', now)).toBe('On for everyone, and unchanged for 60 days')
})
