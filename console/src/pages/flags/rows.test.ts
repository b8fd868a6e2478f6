import { describe, expect, it } from 'vitest'
import {
  changeRows,
  countTags,
  filterFlags,
  isFiltered,
  isOn,
  lastSeen,
  noFilter,
  parseTag,
  shareText,
  sortFlags,
  switched,
  type FlagFilter,
  type FlagRow,
} from './rows'

function flag(name: string, change: Partial<FlagRow> = {}): FlagRow {
  const environment = (environmentName: string) => ({
    name: environmentName,
    displayName: environmentName,
    type: environmentName,
    enabled: false,
    sortOrder: 1,
    variantCount: 0,
    hasStrategies: false,
    hasEnabledStrategies: false,
    lastSeenAt: null,
  })
  return {
    name,
    project: 'shop',
    type: 'release',
    description: '',
    stale: false,
    impressionData: false,
    createdAt: '2026-01-01T00:00:00.000Z',
    lastSeenAt: null,
    favorite: false,
    lifecycle: { stage: 'initial', enteredStageAt: '2026-01-01T00:00:00.000Z' },
    environments: [environment('development'), environment('production')],
    ...change,
  }
}

const rows = [
  flag('Banner', { stale: true, favorite: true, tags: [{ type: 'simple', value: 'Payments' }] }),
  switched(flag('checkout', { type: 'kill-switch', description: 'One page', createdAt: '2026-03-01T00:00:00.000Z' }), 'production', true),
  flag('search', {
    lifecycle: { stage: 'live', enteredStageAt: '2026-01-01T00:00:00.000Z' },
    tags: [
      { type: 'simple', value: 'Payments' },
      { type: 'team', value: 'a:b' },
    ],
  }),
]

const names = (list: readonly FlagRow[]) => list.map((row) => row.name)

describe('filterFlags', () => {
  const cases: [string, Partial<FlagFilter>, string[]][] = [
    ['nothing', {}, ['Banner', 'checkout', 'search']],
    ['a part of a name in another case', { q: ' BANN ' }, ['Banner']],
    ['a part of a description', { q: 'one page' }, ['checkout']],
    ['a part of a tag', { q: 'team:a' }, ['search']],
    ['a type', { type: 'kill-switch' }, ['checkout']],
    ['stale flags', { state: 'stale' }, ['Banner']],
    ['active flags', { state: 'active' }, ['checkout', 'search']],
    ['a stage', { lifecycle: 'live' }, ['search']],
    ['a tag', { tag: 'simple:Payments' }, ['Banner', 'search']],
    ['a tag whose value has a colon', { tag: 'team:a:b' }, ['search']],
    ['on in an environment', { status: 'production:on' }, ['checkout']],
    ['off in an environment', { status: 'production:off' }, ['Banner', 'search']],
    ['favorites', { favorites: 'true' }, ['Banner']],
    ['several filters', { tag: 'simple:Payments', state: 'active' }, ['search']],
    ['an unknown environment', { status: 'staging:on' }, []],
  ]
  it.each(cases)('%s', (_, filter, want) => {
    expect(names(filterFlags(rows, { ...noFilter, ...filter }))).toEqual(want)
    expect(isFiltered({ ...noFilter, ...filter })).toBe(Object.keys(filter).length > 0)
  })
})

describe('sortFlags', () => {
  const cases: [string, boolean, string[]][] = [
    ['name', false, ['Banner', 'checkout', 'search']],
    ['name', true, ['Banner', 'search', 'checkout']],
    ['type', false, ['Banner', 'checkout', 'search']],
    ['lifecycle', true, ['Banner', 'search', 'checkout']],
    ['created', true, ['Banner', 'checkout', 'search']],
    ['environment:production', true, ['Banner', 'checkout', 'search']],
  ]
  it.each(cases)('by %s, descending %s, favorites first', (by, descending, want) => expect(names(sortFlags(rows, { by, descending }))).toEqual(want))
})

it.each([
  [{}, ''],
  [{ rollout: 25 }, '25%'],
  [{ rollout: 25, targeted: true }, '25%+'],
  [{ rollout: 0, targeted: true }, 'some'],
  [{ rollout: 0 }, '0%'],
])('says how many users get a flag with %o', (state, want) => {
  const { text, more } = shareText(state)
  expect(text + (more ? '+' : '')).toBe(want)
})

it('counts tags, the most used first', () => {
  expect(countTags(rows, 5)).toEqual([
    { tag: 'simple:Payments', count: 2 },
    { tag: 'team:a:b', count: 1 },
  ])
  expect(countTags(rows, 1)).toHaveLength(1)
})

it('reads a tag', () => {
  expect(parseTag('team:a:b')).toEqual({ type: 'team', value: 'a:b' })
  expect(parseTag('team')).toBeUndefined()
  expect(parseTag(':a')).toBeUndefined()
  expect(parseTag('team: ')).toBeUndefined()
})

it('switches a flag in one environment, and leaves the other rows as they are', () => {
  const changed = changeRows(rows, ['search'], (row) => switched(row, 'development', true))
  expect(isOn(changed[2]!, 'development')).toBe(true)
  expect(isOn(changed[2]!, 'production')).toBe(false)
  expect(changed[2]!.environments[0]!.hasStrategies).toBe(true)
  expect(changed[0]).toBe(rows[0])
  expect(isOn(rows[2]!, 'development')).toBe(false)
})

it('the last use is the latest of all environments', () => {
  const [development, production] = rows[0]!.environments as [FlagRow['environments'][0], FlagRow['environments'][0]]
  const used = (a: string | null, b: string | null) =>
    flag('used', {
      environments: [
        { ...development, lastSeenAt: a },
        { ...production, lastSeenAt: b },
      ],
    })
  expect(lastSeen(used('2026-01-02T00:00:00.000Z', '2026-01-03T00:00:00.000Z'))).toBe('2026-01-03T00:00:00.000Z')
  expect(lastSeen(used('2026-01-02T00:00:00.000Z', null))).toBe('2026-01-02T00:00:00.000Z')
  expect(lastSeen(used(null, null))).toBe('')
})
