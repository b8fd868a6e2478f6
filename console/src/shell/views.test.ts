import { expect, test } from 'vitest'
import { maxViews, parseViews, viewProblem, withView } from './views'

const view = (name: string, q = 'x') => ({ name, state: { q } })

test('a view replaces the one of its name, and views are sorted', () => {
  expect(withView([view('b'), view('a')], view('b', 'y'))).toEqual([view('a'), view('b', 'y')])
})

test('views are bounded in number and length', () => {
  const full = Array.from({ length: maxViews }, (_, index) => view(`v${index}`))
  expect(viewProblem(full, view('one more'))).toContain('At most 20 views')
  expect(viewProblem(full, view('v1', 'y'))).toBe('')
  expect(viewProblem([], view(''))).toContain('name')
  expect(viewProblem([], view('n'.repeat(51)))).toContain('50 characters')
  expect(viewProblem([], view('long', 'x'.repeat(5000)))).toContain('too long')
})

test('what is stored and is no list of views is left out', () => {
  expect(parseViews(null)).toEqual([])
  expect(parseViews('{')).toEqual([])
  expect(parseViews('{"name":"a"}')).toEqual([])
  expect(parseViews(JSON.stringify([null, { name: 1, state: {} }, { name: 'a' }, view('ok')]))).toEqual([view('ok')])
})
