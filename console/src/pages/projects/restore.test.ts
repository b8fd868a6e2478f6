import { expect, it } from 'vitest'
import { byEnvironment, enabledIn, lastSeen, lostIn } from './restore'

const flag = (name: string, environments: [string, boolean, string | null][]) => ({
  name,
  environments: environments.map(([environment, enabled, lastSeenAt]) => ({ name: environment, enabled, lastSeenAt })),
})

it('groups flags by the environments in which they are on', () => {
  const flags = [
    flag('a', [
      ['development', true, null],
      ['production', true, null],
    ]),
    flag('b', [['production', true, null]]),
    flag('c', [['production', false, null]]),
  ]
  expect([...byEnvironment(flags)]).toEqual([
    ['development', ['a']],
    ['production', ['a', 'b']],
  ])
  expect(enabledIn(flags[2]!)).toEqual([])
})

it('finds the last use in any environment', () => {
  expect(
    lastSeen(
      flag('a', [
        ['development', true, '2026-03-05T00:00:00.000Z'],
        ['production', true, '2026-03-04T00:00:00.000Z'],
      ]),
    ),
  ).toBe('2026-03-05T00:00:00.000Z')
  expect(lastSeen(flag('a', [['development', true, null]]))).toBeNull()
  expect(lastSeen(flag('a', []))).toBeNull()
})

it('finds the parents that a flag lost when it was archived the last time', () => {
  const parent = (feature: string) => ({ feature, enabled: true, variants: [] })
  const archived = (createdAt: string) => ({ type: 'feature-archived', createdAt, preData: {} })
  const removed = (createdAt: string, feature: string) => ({
    type: 'feature-dependencies-removed',
    createdAt,
    preData: { dependencies: [parent(feature)] },
  })
  expect(lostIn([removed('3', 'base'), archived('3'), archived('1')])).toEqual([parent('base')])
  expect(lostIn([archived('3'), removed('3', 'base')])).toEqual([parent('base')])
  expect(lostIn([archived('3'), removed('2', 'base')])).toEqual([])
  expect(lostIn([removed('1', 'base')])).toEqual([])
})
