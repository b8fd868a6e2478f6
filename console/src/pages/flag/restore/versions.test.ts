import { expect, test } from 'vitest'
import { restorableOf, withTags } from './versions'

const strategy = (id: string, rollout: string) => ({ id, name: 'flexibleRollout', parameters: { rollout }, constraints: [], segments: [], variants: [] })
const event = (type: string, preData: object | null, data: object | null, environment: string | null = 'production') =>
  ({ type, environment, preData, data }) as Parameters<typeof restorableOf>[0]

test('a changed strategy has both versions, an added and a removed one have one', () => {
  expect(restorableOf(event('feature-strategy-update', strategy('a', '20'), strategy('a', '60')))).toEqual([
    { kind: 'strategy', environment: 'production', id: 'a', before: strategy('a', '20'), after: strategy('a', '60') },
  ])
  expect(restorableOf(event('feature-strategy-add', null, strategy('a', '20')))).toMatchObject([{ id: 'a', before: undefined, after: { id: 'a' } }])
  expect(restorableOf(event('feature-strategy-remove', strategy('a', '20'), null))).toMatchObject([{ id: 'a', before: { id: 'a' }, after: undefined }])
  expect(restorableOf(event('release-plan-milestone-started', strategy('a', '20'), strategy('b', '60')))).toEqual([])
  // The last strategy: the event has the state of the flag after it.
  const off = { archived: false, enabled: false, strategies: [] }
  expect(restorableOf(event('feature-strategy-remove', strategy('a', '20'), off))).toMatchObject([{ id: 'a', before: { id: 'a' }, after: undefined }])
})

test('an import has each strategy that it changed, and the variants', () => {
  const before = { strategies: [strategy('a', '20'), strategy('b', '10')], variants: [] }
  const after = { strategies: [strategy('a', '20'), strategy('c', '5')], variants: [{ name: 'blue' }] }
  const found = restorableOf(event('feature-updated', before, after))
  expect(found.map((one) => (one.kind === 'strategy' ? one.id : one.kind))).toEqual(['b', 'c', 'variants'])
})

test('changed variants have an entry for each environment whose variants changed', () => {
  const found = restorableOf(
    event('feature-environment-variants-updated', { development: [], production: [] }, { development: [{ name: 'v' }], production: [] }, null),
  )
  expect(found).toEqual([{ kind: 'variants', environment: 'development', before: [], after: [{ name: 'v' }] }])
})

test('the order of strategies, settings and tags are restored if they changed', () => {
  expect(restorableOf(event('strategy-order-changed', { a: 1 }, { a: 2 }))).toEqual([
    { kind: 'order', environment: 'production', before: { a: 1 }, after: { a: 2 } },
  ])
  const settings = (description: string | null) => ({
    description,
    type: 'release',
    impressionData: false,
    valueType: null,
    defaultValue: null,
    valueSchema: null,
  })
  const state = (description: string | null, stale: boolean) => ({ ...settings(description), name: 'f', stale })
  expect(restorableOf(event('feature-metadata-updated', state(null, false), state('New', false), null))).toEqual([
    { kind: 'settings', before: settings(null), after: settings('New') },
  ])
  expect(restorableOf(event('feature-metadata-updated', state('New', false), state('New', true), null))).toEqual([])
  const [a, b] = ['a', 'b'].map((value) => ({ type: 'simple', value }))
  expect(restorableOf(event('feature-tagged', null, a!, null))).toEqual([{ kind: 'tags', before: [], after: [a] }])
  expect(restorableOf(event('feature-untagged', a!, null, null))).toEqual([{ kind: 'tags', before: [a], after: [] }])
  expect(restorableOf(event('feature-tagged', { tags: [a] }, { tags: [b] }, null))).toEqual([{ kind: 'tags', before: [a], after: [b] }])
  expect(withTags([a!, b!], [a!], [b!])).toEqual([a])
})

test('other events have nothing to restore', () => {
  expect(
    restorableOf(
      event('feature-environment-enabled', { enabled: false, strategies: [strategy('a', '1')] }, { enabled: true, strategies: [strategy('a', '1')] }),
    ),
  ).toEqual([])
  expect(restorableOf(event('feature-created', null, { name: 'f', type: 'release', impressionData: false, tags: [] }, null))).toEqual([])
  expect(restorableOf(event('feature-archived', { archived: false }, { archived: true }, null))).toEqual([])
})
