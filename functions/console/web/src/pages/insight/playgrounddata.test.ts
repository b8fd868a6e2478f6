import { expect, test } from 'vitest'
import { contextText, parseContext, parseNames, reasonOf, reasonOfStrategy, requestOf } from './playgrounddata'

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
const feature = (more: object = {}) =>
  ({
    name: 'f',
    environment: 'production',
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
  [{}, 'Strategy flexibleRollout matches.'],
  [{ strategies: { result: true, data: [] } }, 'The flag is on, and has no strategy that limits it.'],
  [{ isEnabled: false, isEnabledInCurrentEnvironment: false }, 'The flag is switched off in production.'],
  [
    { isEnabled: false, isEnabledInCurrentEnvironment: false, strategies: { result: 'unknown', data: [strategy({ disabled: true })] } },
    'All strategies are disabled in production.',
  ],
  [{ isEnabled: false, hasUnsatisfiedDependency: true }, 'A parent flag is not in the required state.'],
  [{ isEnabled: false, strategies: { result: false, data: [strategy({ result: { enabled: false } })] } }, 'The strategy does not match.'],
  [{ isEnabled: false, strategies: { result: 'unknown', data: [] } }, 'No strategy matches here. Only an application can evaluate some of them.'],
])('the reason of a flag: %j', (more, text) => expect(reasonOf(feature(more))).toBe(text))

test.each([
  [{}, 'It matches.'],
  [{ parameters: { rollout: '20' } }, 'The context is in the rollout of 20 %.'],
  [{ parameters: { rollout: '20' }, result: { enabled: false, evaluationStatus: 'complete' } }, 'The context is not in the rollout of 20 %.'],
  [{ disabled: true, result: { enabled: 'unknown', evaluationStatus: 'unevaluated' } }, 'It is disabled, so it is ignored.'],
  [{ parameters: {}, result: { enabled: 'unknown', evaluationStatus: 'incomplete' } }, 'Only an application can evaluate it, so it counts as off here.'],
  [
    { constraints: [{ result: true }, { result: false }], segments: [{ result: false }], result: { enabled: false } },
    '1 of 2 constraints do not hold, and the context is not in a segment.',
  ],
  [{ segments: [{ result: false }], result: { enabled: false } }, 'The context is not in a segment.'],
  [
    { name: 'userWithId', parameters: { userIds: '1' }, result: { enabled: false, evaluationStatus: 'complete' } },
    'The context lacks a value that its parameters need.',
  ],
])('the reason of a strategy: %j', (more, text) => expect(reasonOfStrategy(strategy(more))).toBe(text))
