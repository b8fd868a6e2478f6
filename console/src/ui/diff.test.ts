import { expect, test } from 'vitest'
import { diffLines } from './diff'

const changed = (before: unknown, after: unknown) =>
  diffLines(before, after)
    .filter((line) => line.kind !== 'same')
    .map((line) => `${line.kind === 'added' ? '+' : '-'}${line.text.trim()}`)

test('only the changed lines differ', () => {
  expect(changed({ a: 1, b: [1, 2, 3], c: 'x' }, { a: 1, b: [1, 3], c: 'y' })).toEqual(['-2,', '-"c": "x"', '+"c": "y"'])
})

test('the order of keys is no change', () => {
  expect(changed({ a: 1, b: { c: 1, d: 2 } }, { b: { d: 2, c: 1 }, a: 1 })).toEqual([])
})

test('a created and a deleted value', () => {
  expect(changed(null, { a: 1 })).toEqual(['+{', '+"a": 1', '+}'])
  expect(changed({ a: 1 }, undefined)).toEqual(['-{', '-"a": 1', '-}'])
})

test('very long values are compared as a whole', () => {
  const long = (first: number) => Array.from({ length: 4000 }, (_, index) => index + first)
  expect(changed(long(0), long(10_000))).toHaveLength(8004)
})
