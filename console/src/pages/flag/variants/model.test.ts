import { describe, expect, test } from 'vitest'
import { draftOf, formatJson, jsonProblem, newVariant, requestOf, weightProblem, weights, type VariantDraft } from './model'

const variable = (): VariantDraft => newVariant()
const fixed = (percent: number): VariantDraft => ({ ...newVariant(), fixed: true, percent })

describe('weights', () => {
  test.each([
    ['no variant', [], []],
    ['one takes all', [variable()], [1000]],
    ['three share, and the first gets what remains', [variable(), variable(), variable()], [334, 333, 333]],
    ['the rest of a fixed weight is shared, as the server does', [variable(), variable(), variable(), fixed(33.3)], [223, 222, 222, 333]],
    ['nothing is left', [variable(), fixed(100)], [0, 1000]],
    ['more than all is fixed', [variable(), fixed(80), fixed(80)], [0, 800, 800]],
  ])('%s', (_, drafts, expected) => {
    expect(weights(drafts)).toEqual(expected)
  })
})

describe('weightProblem', () => {
  test.each([
    ['none', [], ''],
    ['shared', [variable(), fixed(99.9)], ''],
    ['all fixed', [fixed(50), fixed(50)], 'At least one variant'],
    ['too much', [variable(), fixed(60), fixed(40)], 'total 100%'],
  ])('%s', (_, drafts, text) => {
    if (text === '') expect(weightProblem(drafts)).toBe('')
    else expect(weightProblem(drafts)).toContain(text)
  })
})

test('a stored variant is sent as it was', () => {
  const stored = {
    name: 'blue',
    weight: 333,
    weightType: 'fix' as const,
    stickiness: 'userId',
    payload: { type: 'json', value: '{}' },
    overrides: [{ contextName: 'userId', values: ['7'] }],
  }
  expect(requestOf(draftOf(stored))).toEqual(stored)
})

test('formatJson', () => {
  expect(formatJson('{"a":1}')).toBe('{\n  "a": 1\n}')
  expect(formatJson('{')).toBeUndefined()
})

test.each([
  ['{"a": [1, true, null, "x\\n"], "b": {}}', undefined],
  ['', 'Line 1, column 1: a value is expected.'],
  ['{"color": #00f}', 'Line 1, column 11: a value is expected.'],
  ['{\n  "a": 1\n  "b": 2\n}', 'Line 3, column 3: a comma or } is expected.'],
  ['{"a": 1,}', 'Line 1, column 9: a name in quotes is expected.'],
  ['[1, ]', 'Line 1, column 5: a value is expected.'],
  ['{"a" 1}', 'Line 1, column 6: a colon is expected.'],
  ['[1', 'Line 1, column 3: a comma or ] is expected.'],
  ['1 2', 'Line 1, column 3: the end is expected.'],
])('the place where %j stops being JSON', (text, problem) => expect(jsonProblem(text)).toBe(problem))
