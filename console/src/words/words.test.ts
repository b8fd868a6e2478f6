import { expect, test } from 'vitest'
import { errorText } from '../api/errors'
import { fieldName, strategyName } from './names'
import { changeSentence } from './sentence'

test('constants of the API are in words', () => {
  expect(errorText(new Error('constraint 1: SEMVER_GTE needs a full semantic version'))).toBe(
    'Constraint 1: “is at least version” needs a full semantic version.',
  )
  expect(errorText(new Error('flexibleRollout has no parameter x'))).toBe('“Gradual rollout” has no parameter x.')
  expect([strategyName('flexibleRollout'), strategyName('ours')]).toEqual(['Gradual rollout', 'ours'])
  expect(['groupId', 'impressionData', 'lastSeenAt', 'plan-name'].map(fieldName)).toEqual(['Group ID', 'Impression data', 'Last seen at', 'plan-name'])
})

test.each([
  ['parameters › rollout', '25', '50', 'Rollout 25% → 50%'],
  ['stale', 'false', 'true', 'Stale no → yes'],
  ['tag', 'nothing', 'simple:web', 'Tag added: simple:web'],
  ['strategies › Half', '50% of users', 'nothing', 'Removed strategy Half: 50% of users'],
  ['constraints › plan', 'nothing', 'plan is one of gold', 'Added constraint: plan is one of gold'],
  ['constraints › plan › operator', 'IN', 'NOT_IN', 'plan: operator “is one of” → “is not one of”'],
  ['strategies › Half › parameters › rollout', '25', '50', 'Half: rollout 25% → 50%'],
  ['production › variants › blue › weight', '40%', '25%', 'production › blue: weight 40% → 25%'],
])('%s from %s to %s', (path, before, after, sentence) => expect(changeSentence({ path, before, after })).toBe(sentence))

test('a list names what it gained and lost', () => {
  const list = { path: 'parameters › userIds', before: '3 values', after: '4 values', added: ['d', 'e'], removed: ['a'] }
  expect(changeSentence(list)).toBe('User IDs: added d, e; removed a')
})
