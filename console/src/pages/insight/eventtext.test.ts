// @vitest-environment node
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { actsOf, changeText, changesOf, eventTitle, eventTypes, groupsOf, is, omittedOf, subjectOf, type EventNames } from './eventtext'

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
  const data = {
    name: 'flexibleRollout',
    parameters: { rollout: '50', groupId: 'f' },
    constraints: [{ contextName: 'plan', operator: 'IN', values: ['gold'] }],
  }
  expect(changesOf({ preData, data } as never)).toEqual([
    { path: 'parameters › rollout', before: '10', after: '50' },
    { path: 'constraints › plan', before: 'nothing', after: 'plan is one of gold' },
  ])
  expect(changeText({ ...event, preData, data } as never)).toBe('Strategy changed in production: Rollout 10% → 50%, Added constraint: plan is one of gold')
})

test('a line has four changes, and the number of the others', () => {
  const [preData, data] = [1, 2].map((value) => Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((key) => [key, value])))
  expect(changeText({ ...event, preData, data } as never)).toBe('Strategy changed in production: A 1 → 2, B 1 → 2, C 1 → 2, D 1 → 2 and 1 more')
})

test('an edited change of a change request is named with its flag, its action and what is new', () => {
  const edited = (id: number, rollout: string) => ({
    changeRequestId: 7,
    revision: String(id),
    changes: [{ id, action: 'updateStrategy', feature: 'checkout', payload: { id: 'a', parameters: { rollout } } }],
  })
  const found = changesOf({ type: 'change-edited', preData: edited(1, '50'), data: edited(2, '30') } as never)
  expect(found).toEqual([{ path: 'checkout › updateStrategy › parameters › rollout', before: '50', after: '30' }])
  const segment = (values: string[]) => ({ changes: [{ id: 1, action: 'updateSegment', segmentId: 3, payload: { values } }] })
  expect(changesOf({ type: 'change-edited', preData: segment(['1']), data: segment(['2']) } as never)).toEqual([
    { path: 'segment #3 › updateSegment › values', before: '1 value', after: '1 value', added: ['2'], removed: ['1'] },
  ])
})

test('without a state before, or with fields that are only in one state, nothing is changed', () => {
  expect(changesOf({ preData: null, data: { a: 1 } } as never)).toEqual([])
  expect(changesOf({ preData: { a: 1, b: 2 }, data: { a: 1, c: 3 } } as never)).toEqual([])
})

test('variants are compared by name, and their weights are percent', () => {
  const variant = (name: string, weight: number) => ({ name, weight, weightType: 'fix' })
  const preData = { production: [variant('blue', 400), variant('old', 600)] }
  const data = { production: [variant('red', 750), variant('blue', 250)] }
  expect(changesOf({ preData, data } as never)).toEqual([
    { path: 'production › blue › weight', before: '40%', after: '25%' },
    { path: 'production › old', before: '60%', after: 'nothing' },
    { path: 'production › red', before: 'nothing', after: '75%' },
  ])
})

const names: EventNames = { user: (id) => `Anna ${id}`, role: (id) => `Role ${id}`, segment: (id) => `Segment ${id}` }

test.each([
  ['user-created', { id: 2, name: 'Ada', username: 'ada' }, 'Ada'],
  ['user-deleted', { id: 2, username: 'ada' }, 'ada'],
  ['sign-in-link-created', { userId: 2 }, 'Anna 2'],
  ['project-user-added', { userId: 2, roles: [5] }, 'Anna 2'],
  ['api-token-created', { tokenName: 'shop', environment: 'production' }, 'shop'],
  ['pat-created', { description: 'laptop', userId: 3 }, 'laptop of Anna 3'],
  ['segment-updated', { id: 1, name: 'adults' }, 'adults'],
  ['addon-config-created', { description: '', provider: 'slack' }, 'slack'],
  ['default-strategy-updated', { name: 'default' }, ''],
])('the subject of %s', (type, data, want) => {
  expect(subjectOf({ ...event, featureName: null, type, data } as never, names)).toBe(want)
  expect(subjectOf({ ...event, featureName: null, type, preData: data } as never, names)).toBe(want)
})

test('a change behind the first values of a list, and behind the start of a text, is named', () => {
  const constraint = (values: string[]) => ({ constraints: [{ contextName: 'userId', operator: 'IN', values }] })
  const one = (preData: object, data: object) =>
    changesOf({ preData, data } as never, names).map(({ before, after, added, removed }) => (added ? [added, removed] : [before, after]))
  const values = ['u1', 'u2', 'u3', 'u4', 'u5', 'u6']
  expect(one(constraint(values), constraint([...values.slice(0, 5), 'competitor']))).toEqual([[['competitor'], ['u6']]])
  expect(one({ parameters: { userIds: 'a,b,c' } }, { parameters: { userIds: 'a, b, c, d' } })).toEqual([[['d'], []]])
  expect(one({ segments: [1, 2, 3, 4] }, { segments: [1, 2, 3, 5] })).toEqual([[['Segment 5'], ['Segment 4']]])
  const long = 'The checkout, in one page, with all of its parts, as it was in the last year, '
  expect(one({ description: `${long}for all.` }, { description: `${long}for some.` })).toEqual([['… the last year, for all.', '… the last year, for some.']])
})

test('users, roles and segments are named, and tags, parents and freezes are changes', () => {
  expect(changesOf({ preData: { roles: [], rootRole: 3 }, data: { roles: [5], rootRole: 2 } } as never, names).map(({ after }) => after)).toEqual([
    'Role 5',
    'Role 2',
  ])
  expect(changesOf({ preData: { segments: [1] }, data: { segments: [1, 2] } } as never, names)[0]!.added).toEqual(['Segment 2'])
  expect(changesOf({ preData: { users: [{ userId: 1, roles: [] }] }, data: { users: [{ userId: 1, roles: [5] }] } } as never, names)).toEqual([
    { path: 'users › Anna 1 › roles', before: 'nothing', after: 'Role 5' },
  ])
  expect(changesOf({ type: 'feature-tagged', preData: null, data: { type: 'team', value: 'web' } } as never)[0]!.after).toBe('team:web')
  expect(changesOf({ type: 'feature-dependency-removed', preData: { feature: 'parent' }, data: null } as never)[0]!.before).toBe('parent')
  expect(changesOf({ type: 'feature-project-change', preData: null, data: { oldProject: 'shop', newProject: 'pay' } } as never)).toEqual([
    { path: 'project', before: 'shop', after: 'pay' },
  ])
  expect(changesOf({ type: 'change-freeze-lifted', preData: { reason: 'Holidays' }, data: null } as never)).toEqual([
    { path: '', before: 'Holidays', after: 'nothing' },
  ])
  const off = { feature: 'parent', enabled: false, variants: [] }
  expect(changesOf({ type: 'feature-dependency-added', preData: null, data: off } as never)[0]!.after).toBe('parent (must be off)')
  const all = { dependencies: [off, { feature: 'other', enabled: true, variants: ['red', 'blue'] }] }
  expect(changesOf({ type: 'feature-dependencies-removed', preData: all, data: null } as never).map(({ before }) => before)).toEqual([
    'parent (must be off)',
    'other (must be red or blue)',
  ])
})

test('what an imported or cloned flag has from the start is in words', () => {
  const strategy = {
    name: 'flexibleRollout',
    parameters: { rollout: '50', stickiness: 'default', groupId: 'f' },
    constraints: [],
    segments: [],
  }
  const variants = [{ name: 'blue', weight: 1000, weightType: 'variable' }]
  const metadata = { name: 'f', type: 'release', description: 'Text', project: 'default', stale: false }
  const created = (data: object) => changeText({ ...event, type: 'feature-created', environment: null, data: { ...metadata, ...data } } as never)
  expect(created({})).toBe('Flag created')
  expect(created({ tags: [], enabled: false, strategies: [], variants: [], dependencies: [] })).toBe('Flag created')
  expect(created({ enabled: true, strategies: [strategy], variants, tags: [{ type: 'simple', value: 'web' }] })).toBe(
    'Flag created: Enabled no → yes, Added strategy: 50% of users, Added variant blue: 100%, Tag added: simple:web',
  )
  expect(created({ clonedFrom: 'g', environments: [{ name: 'staging', strategies: [], variants }], dependencies: [{ feature: 'p', enabled: true }] })).toBe(
    'Flag created: Cloned from added: g, Added variant blue in staging: 100%, Parent added: p',
  )
})

test('strategies that are added, removed or imported are in words, and no other value is JSON', () => {
  const constraint = { contextName: 'country', operator: 'IN', caseInsensitive: false, inverted: true, values: ['CH', 'DE'] }
  const parameters = { groupId: 'f', rollout: '50', stickiness: 'userId' }
  const strategy = { id: 'x', name: 'flexibleRollout', title: 'Half', disabled: true, segments: [1], constraints: [constraint], variants: [], parameters }
  const half = '50% of users in segment Segment 1, if country is not one of CH or DE (disabled)'
  const one = (event: object) => changesOf(event as never, names)
  expect(one({ type: 'feature-strategy-add', preData: null, data: strategy })).toEqual([{ path: '', before: 'nothing', after: `Half: ${half}` }])
  const rest = { archived: false, enabled: false, strategies: [] }
  expect(one({ type: 'feature-strategy-remove', preData: { ...strategy, title: null }, data: rest })).toEqual([{ path: '', before: half, after: 'nothing' }])
  expect(one({ type: 'feature-updated', preData: { strategies: [strategy] }, data: { strategies: [] } })).toEqual([
    { path: 'strategies › Half', before: half, after: 'nothing' },
  ])
  const all = { ...strategy, id: 'y', title: null, parameters: { ...parameters, rollout: '100' } }
  const imported = [{ ...strategy, id: 'z', parameters: { ...parameters, rollout: '60' } }, all]
  expect(one({ type: 'feature-updated', preData: { strategies: [strategy, { ...all, id: 'w' }] }, data: { strategies: imported } })).toEqual([
    { path: 'strategies › Half › parameters › rollout', before: '50', after: '60' },
  ])
  expect(changesOf({ type: 'feature-strategy-add', preData: null, data: { ...strategy, title: '' } } as never)[0]!.after).toContain('in segment #1,')
  expect(one({ preData: { payload: null }, data: { payload: { type: 'json', value: 'a', empty: [] } } })).toEqual([
    { path: 'payload', before: 'nothing', after: 'type json, value a' },
  ])
})

test('filters are in the words of the API', () => {
  expect([is(''), is(' a '), is('a, b,')]).toEqual([undefined, 'IS:a', 'IS_ANY_OF:a,b'])
})

test('the filter offers every type of event of the server', () => {
  const source = readFileSync(new URL('../../../../pkg/flags/event.go', import.meta.url), 'utf8')
  const types = [...source.matchAll(/EventType = "([a-z-]+)"/g)].map((match) => match[1]!)
  expect(types.length).toBeGreaterThan(40)
  expect(types.filter((type) => !eventTypes.includes(type))).toEqual([])
  expect(new Set(eventTypes).size).toBe(eventTypes.length)
  expect(eventTitle('segment-created')).toBe('Segment created')
})

test('the events of one application are one group, and none is there twice', () => {
  const of = (groupId: string, type = 'feature-strategy-update') => ({ groupType: 'change-request', groupId, type })
  const scheduled = of('7', 'change-request-scheduled-application-success')
  const groups = groupsOf([scheduled, of('7', 'change-request-applied'), of('7'), { type: 'feature-created' }, of('7'), of('8')])
  expect(groups.map(({ request, applied, events }) => [request, applied, events.length])).toEqual([
    ['7', scheduled, 1],
    [undefined, undefined, 1],
    ['7', undefined, 1],
    ['8', undefined, 1],
  ])
})

test('what a person does with a change request within a minute is told in one line', () => {
  const of = (type: string, second: number, more: object = {}) => ({
    type,
    groupType: undefined,
    groupId: undefined,
    project: 'default',
    createdBy: 'mia',
    createdAt: `2026-11-29T00:00:${String(second).padStart(2, '0')}Z`,
    data: { changeRequestId: 2 },
    ...more,
  })
  const events = [
    of('change-request-approved', 40, { createdBy: 'ada' }),
    of('change-request-approval-added', 40, { createdBy: 'ada' }),
    of('change-request-sent-to-review', 30),
    of('change-added', 20),
    of('change-request-created', 20),
    of('change-request-created', 19, { data: { changeRequestId: 1 } }),
    of('change-added', 0, { data: { changeRequestId: 1 }, createdAt: '2026-11-28T00:00:00Z' }),
  ]
  expect(groupsOf(events as never).map((group) => actsOf(group.events))).toEqual(['approved', 'created, sent to review', 'created', 'change added'])
  expect(actsOf([{ type: 'feature-created' }])).toBeUndefined()
})

test('data that is too large for the log is named instead of its size', () => {
  const data = { omitted: 'larger than 64 KiB', bytes: 70_000 }
  expect(omittedOf({ preData: { ...data, bytes: 80_000 }, data } as never)).toBe('larger than 64 KiB')
  expect(changesOf({ preData: { ...data, bytes: 80_000 }, data } as never)).toEqual([])
  expect(omittedOf({ preData: null, data: { changes: [{ payload: { omitted: 'larger than 56 KiB' } }] } } as never)).toBe('larger than 56 KiB')
  expect(omittedOf({ preData: null, data: { omitted: 1, changes: 2 } } as never)).toBeUndefined()
})

test('an event of a release plan says where it went, and why', () => {
  const text = (type: string, preData: object | null, data: object | null) => changeText({ ...event, type, preData, data } as never)
  const started = { milestoneName: '10%', run: 2, paused: false, strategies: [], cause: 'The time of the milestone before is over.' }
  expect(text('release-plan-milestone-started', { milestoneName: '1%', run: 1 }, started)).toBe(
    'Milestone started in production: 1% → 10%, The time of the milestone before is over',
  )
  expect(text('release-plan-added', null, { name: 'Canary', milestones: [{ name: '1%' }, { name: '100%' }] })).toBe(
    'Release plan added in production: Canary (1%, 100%)',
  )
  const safeguard = { id: 's', signal: { name: 'checkout-errors' }, action: { type: 'off' } }
  expect(text('safeguard-triggered', { milestoneName: '10%' }, { cause: 'It fired.', safeguard })).toBe(
    'Safeguard triggered in production: 10%, checkout-errors switches the flag off, It fired',
  )
  expect(text('milestone-progression-changed', { transitionCondition: { intervalMinutes: 60 } }, { transitionCondition: { intervalMinutes: 1440 } })).toBe(
    'Time of a milestone changed in production: 1 hour → 1 day',
  )
})
