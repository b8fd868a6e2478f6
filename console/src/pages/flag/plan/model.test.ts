import { expect, test } from 'vitest'
import { newStrategy, strategyDraft, type StrategyDraft } from '../strategy/model'
import {
  asStrategy,
  audienceOf,
  changedEnds,
  changedSafeguards,
  draftOf,
  goingOn,
  isNarrowed,
  milestoneFor,
  milestoneName,
  percentOf,
  planProblems,
  planRequest,
  planStatus,
  readyTemplates,
  takesFrom,
  withPercent,
  type Plan,
} from './model'
import { durationText, endOf, leftText, minutesIn, planText, safeguardsText } from './words'

const strategy = (rollout: string, more: object = {}) => ({
  id: `s${rollout}`,
  milestoneId: 'm',
  sortOrder: 0,
  title: null,
  strategyName: 'flexibleRollout',
  disabled: false,
  segments: [],
  constraints: [],
  variants: [],
  parameters: { rollout, stickiness: 'default' },
  ...more,
})

const milestones = [10, 50, 100].map((share, index) => ({
  id: `m${share}`,
  name: `${share}%`,
  sortOrder: index,
  releasePlanDefinitionId: 'p',
  transitionCondition: index === 0 ? { intervalMinutes: 90 } : null,
  strategies: [strategy(String(share))],
}))

const plan = (of: object = {}) =>
  ({
    id: 'p',
    name: 'Canary',
    description: null,
    milestones,
    activeMilestoneId: 'm10',
    state: 'running',
    stateReason: 'Said by the server.',
    nextAt: null,
    run: 1,
    ...of,
  }) as unknown as Plan

test('times are in the largest unit that is whole', () => {
  expect([1, 90, 120, 1440, 2880, 1500].map(durationText)).toEqual(['1 minute', '90 minutes', '2 hours', '1 day', '2 days', '25 hours'])
  for (const minutes of [1, 90, 120, 1440]) expect(minutesIn(endOf(minutes))).toBe(minutes)
  expect(minutesIn(endOf(undefined))).toBeNull()
})

test('a ready template is sent as milestones that are named by their percentages, and the last one has no end', () => {
  const body = planRequest(readyTemplates[0]!.draft('userId'))
  expect(body.milestones.map(({ name, transitionCondition }) => [name, transitionCondition?.intervalMinutes])).toEqual([
    ['1%', 60],
    ['10%', 60],
    ['50%', 60],
    ['100%', undefined],
  ])
  expect(body.milestones[1]!.strategies).toEqual([
    expect.objectContaining({ strategyName: 'flexibleRollout', parameters: { rollout: '10', stickiness: 'userId' }, sortOrder: 0 }),
  ])
  expect(body).not.toHaveProperty('safeguards')
})

test('a stored plan becomes the same body', () => {
  const safeguards = [
    { id: 'a', signal: { name: 'errors' }, action: { type: 'off' as const } },
    { id: 'b', signal: { alarm: 'arn:aws:cloudwatch:eu-west-1:1:alarm:5xx' }, action: { type: 'pause' as const } },
  ]
  const body = planRequest(draftOf(plan({ safeguards })))
  expect(body.milestones.map(({ name, transitionCondition }) => [name, transitionCondition])).toEqual(
    milestones.map(({ name, transitionCondition }) => [name, transitionCondition]),
  )
  expect(body).toMatchObject({ safeguards: safeguards.map(({ signal, action }) => ({ signal, action })) })
  expect(safeguardsText(safeguards)).toBe('errors switches the flag off and alarm 5xx pauses the plan')
})

test('a milestone with one rollout has a percentage, and a name that follows it', () => {
  const draft = milestoneFor(10, endOf(60))
  expect([percentOf(draft), milestoneName(draft, 0)]).toEqual([10, '10%'])
  expect(milestoneName(withPercent(draft, 25), 0)).toBe('25%')
  expect(milestoneName({ ...withPercent(draft, 25), name: 'A quarter' }, 0)).toBe('A quarter')
  const users = { ...draft.strategies[0]!, name: 'userWithId', parameters: { userIds: 'a,b' } }
  expect([percentOf({ strategies: [users] }), milestoneName({ ...draft, strategies: [users] }, 1)]).toEqual([undefined, 'Milestone 2'])
  expect(percentOf({ strategies: [draft.strategies[0]!, users] })).toBeUndefined()
  expect([isNarrowed(draft.strategies[0]!), isNarrowed({ ...draft.strategies[0]!, segments: [1] })]).toEqual([false, true])
  expect(audienceOf([draft.strategies[0]!, users, { ...users, disabled: true }], new Map())).toBe('10% of users or the users a and b')
})

test('what the server would not say at a field is found before', () => {
  const draft = readyTemplates[1]!.draft()
  expect(planProblems(draft)).toEqual({ milestones: '', safeguards: '' })
  const [first, ...rest] = draft.milestones
  expect(planProblems({ ...draft, milestones: [{ ...first!, end: { unit: 'days', count: null } }, ...rest] }).milestones).toMatch(/how long/)
  expect(planProblems({ ...draft, milestones: [withPercent(first!, 101), ...rest] }).milestones).toMatch(/0 to 100/)
  expect(planProblems({ ...draft, milestones: [withPercent(first!, null), ...rest] }).milestones).toMatch(/0 to 100/)
  expect(planProblems({ ...draft, safeguards: [{ signal: ' ', action: 'off' }] }).safeguards).toMatch(/signal/)
})

test('one state is in words, with the next moment', () => {
  const status = (of: object) => {
    const { label, text, at } = planStatus(plan(of))
    return [label, text, at]
  }
  expect(status({ nextAt: '2026-01-01T00:00:00Z' })).toEqual(['Running', '50% starts', '2026-01-01T00:00:00Z'])
  expect(status({})).toEqual(['Running', '50% waits for you.', undefined])
  expect(status({ state: 'paused' })).toEqual(['Paused', 'Stays at 10% until it is resumed.', undefined])
  expect(status({ state: 'off', stateReason: 'The flag is off in this environment. Switched on, milestone "10%" begins.' })).toEqual([
    'Off',
    'Switched on, milestone "10%" begins.',
    undefined,
  ])
  expect(status({ state: 'off', stateReason: 'A safeguard switched the flag off.' })[0]).toBe('Stopped')
  expect(status({ state: 'stopped' })).toEqual(['Stopped', 'Said by the server.', undefined])
  expect(status({ state: 'last', activeMilestoneId: 'm100' })[0]).toBe('Last milestone')
})

test('a list says how long it is until the next milestone', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  const after = (minutes: number) => leftText(new Date(now + minutes * 60_000), now)
  expect([0, 40, 120, 47 * 60, 72 * 60].map(after)).toEqual(['due now', '40 min left', '2 h left', '47 h left', '3 d left'])
  expect(planText({ planState: 'running', planNextAt: '2026-01-01T02:00:00Z' }, now)).toBe('2 h left')
  expect([undefined, 'off', 'running', 'paused', 'last'].map((planState) => planText({ planState }, now))).toEqual([
    '',
    '',
    'next by hand',
    'paused',
    'last step',
  ])
})

test('only what was changed of a plan is sent', () => {
  expect(changedEnds(plan(), [endOf(90), endOf(undefined)])).toEqual([])
  expect(changedEnds(plan(), [endOf(undefined), endOf(60)])).toMatchObject([
    { source: 'm10', target: 'm50', minutes: undefined },
    { source: 'm50', target: 'm100', minutes: 60 },
  ])
  const safeguards = [{ id: 'a', signal: { name: 'errors' }, action: { type: 'off' as const } }]
  expect(changedSafeguards({ safeguards }, [{ signal: 'errors ', action: 'off' }])).toEqual({ added: [], removed: [] })
  expect(changedSafeguards({ safeguards }, [{ signal: 'errors', action: 'pause' }])).toEqual({ added: [{ signal: 'errors', action: 'pause' }], removed: ['a'] })
  expect(strategyDraft(asStrategy(strategy('10') as never)).name).toBe('flexibleRollout')
})

test('a plan that takes the flag from users says so, and can go on from the present percentage', () => {
  const of = (rollout: number, more: object = {}) => ({ ...newStrategy('default', rollout), ...more })
  const canary = readyTemplates[0]!.draft().milestones
  const takes = (present: StrategyDraft[], first = canary[0]!.strategies) => takesFrom('checkout', present, first)
  expect(takes([of(10)])).toBe(true)
  expect(takes([of(1, { parameters: { rollout: '1', stickiness: 'default', groupId: 'checkout' } })])).toBe(false)
  expect(takes([of(1, { parameters: { rollout: '1', stickiness: 'default', groupId: 'other' } })])).toBe(true)
  expect(takes([of(1), of(5)], [of(5)])).toBe(false)
  expect(takes([of(50, { disabled: true })])).toBe(false)

  const beta = of(10, { segments: [7] })
  const on = goingOn([beta], canary)!
  expect(on.milestones.map(percentOf)).toEqual([10, 50, 100])
  expect(on.milestones.every(({ strategies }) => String(strategies[0]!.segments) === '7')).toBe(true)
  expect(takes([beta], on.milestones[0]!.strategies)).toBe(false)
  expect(goingOn([of(25)], canary)!.milestones.map(percentOf)).toEqual([25, 50, 100])
  expect(goingOn([of(100)], canary)).toBeUndefined()
  expect(goingOn([of(10), of(20)], canary)).toBeUndefined()
})
