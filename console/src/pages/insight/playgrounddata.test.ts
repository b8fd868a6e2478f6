import { expect, test } from 'vitest'
import { comparedText, contextText, parseContext, parseNames, reasonOf, reasonOfStrategy, requestOf, severalOf, whoOf } from './playgrounddata'

const strategy = (more: object = {}) =>
  ({
    id: '1',
    name: 'flexibleRollout',
    disabled: false,
    links: { edit: '' },
    parameters: { rollout: '100' },
    constraints: [],
    segments: [],
    result: { enabled: true, evaluationStatus: 'complete' },
    ...more,
  }) as never
const constraint = (result: boolean) => ({ contextName: 'plan', operator: 'IN', values: ['gold'], result })
const feature = (more: object = {}) =>
  ({
    name: 'f',
    environment: 'production',
    context: {},
    isEnabled: true,
    isEnabledInCurrentEnvironment: true,
    hasUnsatisfiedDependency: false,
    strategies: { result: true, data: [strategy()] },
    ...more,
  }) as never

test('standard fields are in the context, others are properties', () => {
  const context = [
    { name: 'userId', value: '7' },
    { name: ' plan ', value: 'gold' },
    { name: '', value: 'x' },
    { name: 'empty', value: '' },
  ]
  expect(requestOf({ environments: ['production'], projects: [], context })).toEqual({
    environments: ['production'],
    projects: '*',
    context: { appName: 'playground', userId: '7', properties: { plan: 'gold' } },
  })
  expect(requestOf({ environments: [], projects: ['a'], context: [{ name: 'appName', value: 'shop' }] }).context.appName).toBe('shop')
})

test('the context survives the address', () => {
  const context = [
    { name: 'userId', value: '7,8' },
    { name: 'a b', value: 'c&d=e' },
    { name: 'empty', value: '' },
  ]
  expect(parseContext(contextText(context))).toEqual(context)
  expect(parseNames('a,,b')).toEqual(['a', 'b'])
})

test.each([
  [{}, 'Gradual rollout matches.'],
  [{ strategies: { result: true, data: [] } }, 'On for everyone: it has no strategy.'],
  [{ isEnabled: false, isEnabledInCurrentEnvironment: false }, 'Switched off.'],
  [
    { isEnabled: false, isEnabledInCurrentEnvironment: false, strategies: { result: 'unknown', data: [strategy({ disabled: true })] } },
    'All strategies are disabled.',
  ],
  [
    { isEnabled: false, unsatisfiedDependency: { feature: 'shop', enabled: true, variants: ['red', 'blue'] } },
    'On only where shop is on with red or blue, which is not the case here.',
  ],
  [
    { isEnabled: false, strategies: { result: false, data: [strategy({ result: { enabled: false } })] } },
    'The context lacks a value that its parameters need.',
  ],
  [{ isEnabled: false, strategies: { result: false, data: [strategy(), strategy()] } }, 'None of the 2 strategies matches.'],
  [
    { context: { userId: '7' }, strategies: { result: true, data: [strategy({ parameters: { rollout: '90', groupId: 'g' } })] } },
    'Gradual rollout matches: userId 7 has place 81 of 100, inside the rollout of 90%.',
  ],
  [{ isEnabled: false, strategies: { result: 'unknown', data: [] } }, 'No strategy matches here. Only an application can evaluate some of them.'],
])('the reason of a flag: %j', (more, text) => expect(reasonOf(feature(more))).toBe(text))

test.each([
  [{}, 'It matches.'],
  [{ parameters: { rollout: '90', groupId: 'g' } }, 'userId 7 has place 81 of 100, inside the rollout of 90%.'],
  [{ parameters: { rollout: '10', groupId: 'g' }, result: { enabled: false } }, 'userId 7 has place 81 of 100, outside the rollout of 10%.'],
  [{ name: 'gradualRolloutUserId', parameters: { percentage: '10', groupId: 'g' } }, 'userId 7 has place 81 of 100, outside the rollout of 10%.'],
  [{ parameters: { rollout: '20', stickiness: 'random' } }, 'Without stickiness it is decided at random each time, for 20%.'],
  [{ parameters: { rollout: '20', stickiness: 'company' }, result: { enabled: false } }, 'The context has no company, by which the rollout decides.'],
  [{ disabled: true, result: { enabled: 'unknown', evaluationStatus: 'unevaluated' } }, 'It is disabled, so it is ignored.'],
  [{ parameters: {}, result: { enabled: 'unknown', evaluationStatus: 'incomplete' } }, 'Only an application can evaluate it, so it counts as off here.'],
  [
    { constraints: [constraint(true), constraint(false)], segments: [{ result: false, constraints: [] }], result: { enabled: false } },
    'It applies only if plan is one of gold, but plan is silver; 1 more condition does not hold.',
  ],
  [
    { segments: [{ name: 'adults', result: false, constraints: [{ ...constraint(false), contextName: 'age' }] }], result: { enabled: false } },
    'It applies only in the segment adults, if age is one of gold, but the context has no age.',
  ],
  [
    { name: 'userWithId', parameters: { userIds: '1' }, result: { enabled: false, evaluationStatus: 'complete' } },
    'The context lacks a value that its parameters need.',
  ],
])('the reason of a strategy: %j', (more, text) => expect(reasonOfStrategy(strategy(more), { userId: '7', plan: 'silver' })).toBe(text))

test('the value that was compared', () => {
  expect(comparedText('plan', { plan: 'gold' })).toBe('plan is gold')
  expect(comparedText('plan', { plan: '' })).toBe('the context has no plan')
  expect(comparedText('currentTime', {})).toBe('the time is now')
})

test('several values tell users apart, with or without a space after a comma', () => {
  const context = [
    { name: 'userId', value: '7, 8,9' },
    { name: 'plan', value: 'gold' },
  ]
  const question = { environments: ['production'], projects: [], context }
  expect(requestOf(question).context).toMatchObject({ userId: '7,8,9' })
  expect(severalOf(question)).toEqual(['userId'])
  expect(whoOf({ userId: '7', plan: 'gold' }, ['userId'])).toBe('userId 7')
})
