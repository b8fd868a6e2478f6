import { describe, expect, test } from 'vitest'
import { childrenText, describeAudience, describeStickiness, describeStrategy } from './describe'
import { strategyDifferences, widens } from './difference'
import { newStrategy, type StrategyDraft } from './model'
import { newVariant } from '../variants/model'

const rollout = (percent: string, stickiness = 'default') => ({ name: 'flexibleRollout', parameters: { rollout: percent, stickiness } })

describe('describeAudience', () => {
  test.each([
    [rollout('100'), 'Everyone'],
    [rollout('100', 'companyId'), 'Everyone with a companyId'],
    [rollout('0'), 'No one'],
    [rollout('0.9'), 'No one'],
    [rollout('12.5'), '12% of users'],
    [rollout('50', 'random'), '50% of evaluations, at random each time'],
    [rollout('50', 'sessionId'), '50% of sessions'],
    [rollout('50', 'companyId'), '50% of values of companyId'],
    [rollout(''), 'A percentage that has not been set'],
    [{ name: 'gradualRolloutUserId', parameters: { percentage: '5', groupId: 'g' } }, '5% of users'],
    [{ name: 'default', parameters: {} }, 'Everyone'],
    [{ name: 'userWithId', parameters: { userIds: 'a, b,c' } }, 'The users a, b and c'],
    [{ name: 'userWithId', parameters: { userIds: 'a,b,c,d,e' } }, '5 users (a, b, c and 2 others)'],
    [{ name: 'userWithId', parameters: {} }, 'No users: the list is empty'],
    [{ name: 'byCountry', parameters: { countries: 'NO' } }, 'Whom the application selects by its strategy byCountry (countries: NO)'],
  ])('%j', (strategy, text) => {
    expect(describeAudience(strategy)).toBe(text)
  })
})

test('describeStrategy names segments and constraints', () => {
  const strategy = {
    ...newStrategy('userId', 25),
    segments: [1, 9],
    constraints: [{ contextName: 'country', operator: 'IN' as const, values: ['NO'], inverted: false, caseInsensitive: false }],
  }
  expect(describeStrategy(strategy, new Map([[1, 'Beta']]))).toBe('25% of users in all of the segments Beta and #9, if country is one of NO.')
})

test('describeStrategy names the users that a strategy for everyone lists', () => {
  const listing = (...values: string[]) => ({
    ...newStrategy(),
    constraints: [{ contextName: 'userId', operator: 'IN' as const, values, inverted: false, caseInsensitive: false }],
  })
  const ids = Array.from({ length: 30 }, (_, index) => `u${index}`)
  expect(describeStrategy(listing(...ids), new Map())).toBe('30 users (u0, u1, u2 and 27 others).')
  expect(describeStrategy(listing('ada'), new Map())).toBe('The user ada.')
  expect(describeStrategy({ ...listing(...ids), ...rollout('50') }, new Map())).toMatch(/^50% of users, if userId is one of/)
})

test('childrenText counts what it does not name', () => {
  const many = (letter: string, count: number) => Array.from({ length: count }, (_, index) => `${letter}${index}`)
  expect(childrenText(['a'])).toBe('These flags can change, too, because they depend on it: a.')
  expect(childrenText(many('a', 12))).toMatch(/ a0, .*, a9 and 2 more\.$/)
  expect(childrenText(['a'], [])).toBe('These flags can change, too, because they depend on flags that change: a.')
  expect(childrenText(['a'], many('p', 11))).toMatch(/: a\. So can those that depend on p0, .*, p9 and 1 more\.$/)
})

test('a stickiness without a fallback warns about users without the field', () => {
  expect(describeStickiness(rollout('50', 'userId'))).toContain('Without a userId the strategy does not apply')
  expect(describeStickiness(rollout('50'))).toContain('decided at random')
  expect(describeStickiness({ name: 'default', parameters: {} })).toBe('')
})

test('a constraint without a field is called unfinished', () => {
  const constraint = { contextName: '', operator: 'IN', values: [], inverted: false, caseInsensitive: false }
  const text = describeStrategy({ name: 'default', parameters: {}, segments: [], constraints: [constraint] } as never, new Map())
  expect(text).toBe('Everyone, if an unfinished constraint holds.')
})

describe('strategyDifferences names what the sentences leave out', () => {
  const half = newStrategy('default', 50)
  const userIn = (...values: string[]): StrategyDraft => ({
    ...half,
    constraints: [{ contextName: 'userId', operator: 'IN', values, inverted: false, caseInsensitive: false }],
  })
  const both = (...all: StrategyDraft[]): StrategyDraft => ({ ...half, constraints: all.flatMap(({ constraints }) => constraints) })
  const inverted = (one: StrategyDraft): StrategyDraft => ({ ...one, constraints: one.constraints.map((each) => ({ ...each, inverted: true })) })
  const group = (groupId: string, rollout = '50'): StrategyDraft => ({ ...half, parameters: { rollout, stickiness: 'default', groupId } })
  const variants = (...names: string[]): StrategyDraft => ({ ...half, variants: names.map((name) => newVariant('default', name)) })
  const users = (userIds: string): StrategyDraft => ({ ...half, name: 'userWithId', parameters: { userIds } })
  const many = ['a', 'b', 'c', 'd', 'e', 'f']
  test.each<[string, StrategyDraft, StrategyDraft, string[]]>([
    ['nothing', userIn(...many), userIn(...many), []],
    ['a later value', userIn(...many), userIn('a', 'b', 'c', 'd', 'e', 'competitor'), ['userId is one of: + competitor, − f']],
    ['many values', userIn('a'), userIn(...many), ['userId is one of: + b, c, d and 2 more']],
    ['a short list', userIn('a'), userIn('b'), []],
    ['a later value of an inverted list', userIn('a', 'b', 'c'), inverted(userIn('a', 'b', 'c', 'd')), ['userId is not one of: + d']],
    [
      'a list that stays beside one that is inverted',
      both(userIn(...many), userIn('a', 'b', 'c')),
      both(inverted(userIn('a', 'b', 'c', 'd')), userIn(...many)),
      ['userId is not one of: + d'],
    ],
    ['the users', users('a,b,c,d,e'), users('a,b,c,d,x'), ['Users: + x, − e']],
    ['the segments', { ...half, segments: [1, 2, 3, 4, 5] }, { ...half, segments: [1, 2, 3, 4, 6] }, ['Segments: + Six, − #5']],
    ['the group', group('checkout'), group('checkout2'), ['Group ID checkout → checkout2, so other users get it']],
    ['the group of everyone', group('checkout', '100'), group('checkout2', '100'), ['Group ID checkout → checkout2']],
    ['the stickiness', half, newStrategy('userId', 50), ['Stickiness default → userId, so other users may get it']],
    ['a variant', variants('blue', 'red'), variants('blue', 'green'), ['Variants: + green 50%, − red']],
    ['the weights', variants('blue'), variants('blue', 'red'), ['Variants: blue 100% → 50%, + red 50%']],
    ['a disabled strategy', { ...group('a'), disabled: true }, group('b'), []],
  ])('%s', (_, before, after, sentences) => {
    expect(strategyDifferences(before, after, new Map([[6, 'Six']]))).toEqual(sentences)
  })
  test('a payload', () => {
    const [blue] = variants('blue').variants
    const after = { ...half, variants: [{ ...blue!, payloadType: 'string' as const, payload: 'x' }] }
    expect(strategyDifferences({ ...half, variants: [blue!] }, after, new Map())).toEqual(['Variants: blue with other settings'])
  })
})

test('a change widens who gets the flag unless it only takes from them', () => {
  const half = newStrategy('default', 50)
  const only = (operator: 'IN' | 'NOT_IN', ...values: string[]): StrategyDraft => ({
    ...half,
    constraints: [{ contextName: 'country', operator, values, inverted: false, caseInsensitive: false }],
  })
  const users = (userIds: string): StrategyDraft => ({ ...half, name: 'userWithId', parameters: { userIds } })
  const more: [StrategyDraft | undefined, StrategyDraft][] = [
    [undefined, half],
    [half, newStrategy('default', 60)],
    [half, newStrategy('userId', 50)],
    [{ ...half, disabled: true }, half],
    [{ ...half, segments: [1] }, half],
    [only('IN', 'NO'), only('IN', 'NO', 'SE')],
    [only('NOT_IN', 'NO', 'SE'), only('NOT_IN', 'NO')],
    [only('IN', 'NO'), half],
    [users('a'), users('a,b')],
  ]
  for (const [before, after] of more) {
    expect(widens(before, after)).toBe(true)
    if (before && after.parameters.stickiness !== 'userId') expect(widens(after, before)).toBe(false)
  }
  expect(widens(undefined, newStrategy('default', 0))).toBe(false)
  expect(widens(half, { ...half, title: 'Renamed' })).toBe(false)
})
