import { expect, test } from 'vitest'
import { describeSegment, replacedBy, shownChanges, shownSegmentChange, whereOf } from './present'

const rollout = (id: string, percent: string) => ({
  id,
  name: 'flexibleRollout',
  title: null,
  disabled: false,
  sortOrder: 0,
  parameters: { rollout: percent, stickiness: 'default' },
  constraints: [],
  segments: [],
  variants: [],
})
const flag = {
  name: 'checkout',
  dependencies: [],
  children: [],
  environments: [{ name: 'production', enabled: false, strategies: [rollout('a', '10'), rollout('b', '20')], variants: [] }],
} as unknown as Parameters<typeof shownChanges>[1]
const names = new Map([[7, 'Beta']])
const shown = (changes: Parameters<typeof shownChanges>[0], of = flag) => shownChanges(changes, of, 'production', names)

test('a changed strategy is compared with the present one, and the next change with that', () => {
  const [first, second] = shown([
    { action: 'updateStrategy', payload: { id: 'a', parameters: { rollout: '50', stickiness: 'default' }, segments: [7] } },
    { action: 'updateStrategy', payload: { id: 'a', parameters: { rollout: '60', stickiness: 'default' }, segments: [7] } },
  ])
  expect(first).toMatchObject({
    text: 'Change strategy: 10% of users → 50% of users in segment “Beta”.',
    before: { parameters: { rollout: '10' }, segments: [] },
    after: { parameters: { rollout: '50' }, segments: ['Beta'] },
    segments: [7],
  })
  expect(second).toMatchObject({ before: { parameters: { rollout: '50' } }, after: { parameters: { rollout: '60' } } })
})

test('an added strategy has nothing before, a removed one nothing after', () => {
  const [added, removed, gone] = shown([
    { action: 'addStrategy', payload: { name: 'default' } },
    { action: 'deleteStrategy', payload: { id: 'b' } },
    { action: 'deleteStrategy', payload: { id: 'b' } },
  ])
  expect(added).toMatchObject({ text: 'Add strategy: Everyone.', before: undefined, after: { name: 'default' } })
  expect(removed).toMatchObject({ text: 'Remove strategy: 20% of users.', before: { parameters: { rollout: '20' } }, after: undefined })
  expect(gone).toEqual({ text: 'Remove a strategy' })
})

test('an order shows the strategies in words', () => {
  expect(
    shown([
      {
        action: 'reorderStrategy',
        payload: [
          { id: 'b', sortOrder: 1 },
          { id: 'a', sortOrder: 2 },
        ],
      },
    ]),
  ).toEqual([
    { text: 'Reorder the strategies', before: ['1. 10% of users.', '2. 20% of users.'], after: ['2. 20% of users.', '1. 10% of users.'], segments: [] },
  ])
})

test('a title does not hide what a strategy does', () => {
  const title = '1% of users, only staff'
  const [added] = shown([{ action: 'addStrategy', payload: { name: 'default', title } }])
  expect(added).toMatchObject({ text: `Add strategy: Everyone, titled “${title}”.`, after: { name: 'default', title } })
  // Nor does it hide that strategies change places, even where they differ only in their variants.
  const strategies = ['red', 'blue'].map((name) => ({ ...rollout(name, '100'), title, variants: [{ name }], segments: name === 'red' ? [7] : [] }))
  const environment = { name: 'production', enabled: true, strategies, variants: [] }
  const order = ['blue', 'red'].map((id, sortOrder) => ({ id, sortOrder }))
  const [moved] = shown([{ action: 'reorderStrategy', payload: order }], { ...flag, environments: [environment] } as unknown as typeof flag)
  const first = `1. Everyone in segment “Beta”, titled “${title}”. Variants: red`
  const second = `2. Everyone, titled “${title}”. Variants: blue`
  expect(moved).toMatchObject({ before: [first, second], after: [second, first], segments: [7] })
})

test('a segment shows whom it selects, whatever its name says', () => {
  const staff = { contextName: 'userId', operator: 'NOT_IN' as const, values: ['1', '2'], inverted: false, caseInsensitive: false }
  expect(describeSegment(7, { name: 'Only staff', constraints: [staff] })).toBe('Segment “Only staff” (7): those for whom userId is not one of 1 or 2.')
  expect(describeSegment(7, { name: 'Only staff', constraints: [] })).toBe('Segment “Only staff” (7): everyone, because it has no constraints.')
  expect(describeSegment(7, undefined)).toBe('Segment 7: whom it selects is not known.')
})

test('a switch that changes nothing says so', () => {
  const [on, again] = shown([
    { action: 'updateEnabled', payload: { enabled: true } },
    { action: 'updateEnabled', payload: { enabled: true } },
  ])
  expect(on).toEqual({ text: 'Switch on' })
  expect(again).toMatchObject({ text: 'Switch on: it is on already' })
  const [forced] = shown([{ action: 'updateEnabled', payload: { enabled: true, force: 'a false alarm' } }])
  expect(forced).toMatchObject({ text: 'Switch on, although the signal of a safeguard fires: a false alarm' })
})

test('a switch says for whom the flag is on after all changes', () => {
  const [on, off, added] = shown([
    { action: 'updateEnabled', payload: { enabled: true } },
    { action: 'updateStrategy', payload: { id: 'a', disabled: true } },
    { action: 'addStrategy', payload: { name: 'default', segments: [7] } },
  ])
  expect(on).toEqual({ text: 'Switch on', onFor: ['20% of users.', 'Everyone in segment “Beta”.'], segments: [7] })
  expect(off).toMatchObject({ text: 'Change strategy: 10% of users. It is disabled.' })
  expect(added).toMatchObject({ text: 'Add strategy: Everyone in segment “Beta”.' })
  expect(shown([{ action: 'updateEnabled', payload: { enabled: false } }])[0]).not.toHaveProperty('onFor')
  // Parents count as they are after all changes, too.
  const [limited] = shown([
    { action: 'updateEnabled', payload: { enabled: true } },
    { action: 'addDependency', payload: { feature: 'parent', enabled: false } },
    { action: 'addDependency', payload: { feature: 'colors', variants: ['red', 'blue'] } },
  ])
  expect(limited).toMatchObject({ onlyWhere: expect.stringMatching(/parent is off and colors is on with red or blue, because the flag depends on it\.$/) })
})

test('switching off says for whom the flag is on now, and what depends on it', () => {
  const environment = { name: 'production', enabled: true, strategies: [rollout('a', '10'), { ...rollout('b', '20'), disabled: true }], variants: [] }
  const on = { ...flag, environments: [environment], children: ['banner'] } as unknown as typeof flag
  const [changed, off] = shown(
    [
      { action: 'updateStrategy', payload: { id: 'a', parameters: { rollout: '50', stickiness: 'default' } } },
      { action: 'updateEnabled', payload: { enabled: false } },
    ],
    on,
  )
  expect(changed).not.toHaveProperty('dependents')
  expect(off).toEqual({ text: 'Switch off', wasOnFor: ['10% of users.'], segments: [], dependents: ['banner'] })
})

test('the flag goes off with the last strategy that applies', () => {
  const environment = { name: 'production', enabled: true, strategies: [rollout('a', '10'), rollout('b', '20')], variants: [] }
  const changes = [
    { action: 'deleteStrategy', payload: { id: 'b' } },
    { action: 'updateStrategy', payload: { id: 'a', disabled: true } },
    { action: 'updateEnabled', payload: { enabled: true } },
  ] as const
  const list = shown(changes, { ...flag, environments: [environment], children: ['banner'] } as unknown as typeof flag)
  expect(list[0]).not.toHaveProperty('dependents')
  expect(list[0]).toMatchObject({ text: 'Remove strategy: 20% of users.' })
  const goesOff = ' No other strategy applies then, so the flag is switched off, too.'
  expect(list[1]).toMatchObject({ text: `Change strategy: 10% of users. It is disabled.${goesOff}`, dependents: ['banner'] })
  expect(list[2]).toMatchObject({ text: 'Switch on', onFor: [] })
  const single = { ...environment, strategies: [rollout('a', '10')] }
  const [removed] = shown([{ action: 'deleteStrategy', payload: { id: 'a' } }], {
    ...flag,
    environments: [single],
    children: ['banner'],
  } as unknown as typeof flag)
  expect(removed).toMatchObject({ text: `Remove strategy: 10% of users.${goesOff}`, dependents: ['banner'] })
})

test('without the present state a change shows what it sets, and compares it with nothing', () => {
  const changes = [
    { action: 'updateStrategy', payload: { id: 'a', name: 'default' } },
    { action: 'addStrategy', payload: { name: 'default' } },
    { action: 'patchVariant', payload: { variants: [] } },
    { action: 'addDependency', payload: { feature: 'parent' } },
    { action: 'deleteDependency', payload: { feature: 'parent' } },
    { action: 'reorderStrategy', payload: [{ id: 'a', sortOrder: 1 }] },
  ] as const
  const list = shownChanges(changes, undefined, 'production', names)
  expect(list[0]).toMatchObject({ text: 'Change strategy: Everyone.', after: { name: 'default' } })
  expect(list.map((one) => 'before' in one)).toEqual(list.map(() => false))
  expect(list.map((one) => 'after' in one)).toEqual([true, true, true, true, false, false])
  expect(shownSegmentChange({ action: 'updateSegment', payload: { name: 'Beta' } }, undefined)).toEqual({
    text: 'Change the segment',
    after: { name: 'Beta' },
  })
  expect(shownSegmentChange({ action: 'deleteSegment' }, undefined)).toEqual({ text: 'Delete the segment' })
})

test('an applied request shows what it replaced, and nothing as new of which that is not known', () => {
  const changes = [
    { action: 'updateStrategy', payload: { id: 'a', parameters: { rollout: '50', stickiness: 'default' } }, before: rollout('a', '10') },
    { action: 'updateStrategy', payload: { id: 'a', parameters: { rollout: '60', stickiness: 'default' } } },
    { action: 'updateStrategy', payload: { id: 'c', parameters: { rollout: '5', stickiness: 'default' } }, before: null },
    { action: 'patchVariant', payload: { variants: [] } },
    { action: 'updateEnabled', payload: { enabled: false }, before: { enabled: true } },
    { action: 'addStrategy', payload: { name: 'default' } },
  ] as unknown as Parameters<typeof replacedBy>[0]
  const list = shownChanges(changes, replacedBy(changes, 'production'), 'production', names, true)
  expect(list[0]).toMatchObject({ before: { parameters: { rollout: '10' } }, after: { parameters: { rollout: '50' } } })
  expect(list[1]).toMatchObject({ before: { parameters: { rollout: '50' } }, after: { parameters: { rollout: '60' } } })
  expect(list.map((one) => 'before' in one)).toEqual([true, true, false, false, false, true])
  // Other strategies may apply that are not stored.
  expect(list[4]).toEqual({ text: 'Switch off' })
})

test('a change of a segment shows no difference where one state has null and the other nothing', () => {
  const stored = { id: 3, name: 'Beta', description: null, constraints: [] } as unknown as Parameters<typeof shownSegmentChange>[1]
  const { before, after } = shownSegmentChange({ action: 'updateSegment', payload: { name: 'Beta', project: null, constraints: [] } }, stored)
  expect(JSON.stringify(after)).toBe(JSON.stringify(before))
})

test('a change of a segment or of a whole flag has an effect beyond its environment', () => {
  const features = (action: string) => [{ name: 'flag', changes: [{ action }] }] as never
  expect(whereOf({ environment: 'production', features: features('updateEnabled'), segments: [] })).toBe('production')
  expect(whereOf({ environment: 'production', features: [], segments: [{}] as never })).toBe('production and wherever its segments are used')
  expect(whereOf({ environment: 'production', features: features('deleteDependency'), segments: [] })).toBe('production and wherever its flags are on')
  const on = { ...flag, environments: ['production', 'prod-eu', 'staging'].map((name) => ({ name, enabled: name !== 'staging', strategies: [] })) }
  const [removed] = shown([{ action: 'deleteDependency', payload: { feature: 'parent' } }], on as unknown as typeof flag)
  expect(removed).toMatchObject({ text: 'No longer depend on parent, also in prod-eu, where the flag is on' })
})

test('a request says for whom each milestone of a release plan is', () => {
  const strategy = (rollout: string) => ({ id: rollout, strategyName: 'flexibleRollout', parameters: { rollout }, constraints: [], segments: [], variants: [] })
  const milestones = [
    { id: 'a', name: 'A few', transitionCondition: { intervalMinutes: 60 }, strategies: [strategy('10')] },
    { id: 'b', name: 'All', transitionCondition: null, strategies: [strategy('100')] },
  ]
  const safeguards = [{ signal: { name: 'errors' }, action: { type: 'off' } }]
  const plan = { id: 'p', name: 'Canary', milestones } as never
  const changes = [
    { action: 'addReleasePlan', payload: { name: 'Canary', milestones, safeguards, existing: 'replace' } },
    { action: 'startMilestone', payload: { planId: 'p', milestoneId: 'b' } },
    { action: 'deleteReleasePlan', payload: { planId: 'p' } },
  ] as Parameters<typeof shownChanges>[0]
  const [added, started, deleted] = shownChanges(changes, flag, 'production', names, false, plan)
  expect(added).toMatchObject({
    text: 'Roll out by the release plan “Canary”, which replaces the strategies. Safeguards: errors switches the flag off.',
    milestones: ['A few: 10% of users, for 1 hour', 'All: Everyone'],
  })
  expect(started!.text).toBe('Start milestone All of the release plan “Canary”: Everyone')
  expect(deleted!.text).toMatch(/^Delete the release plan “Canary” and its strategies\./)
})
