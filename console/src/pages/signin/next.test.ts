import { expect, test } from 'vitest'
import { safeNext, signInError } from './next'

test.each([
  [undefined, '/projects'],
  ['/segments?q=a#b', '/segments?q=a#b'],
  ['//evil.example/x', '/projects'],
  ['/\\evil.example', '/projects'],
  ['/.//evil.example/x', '/projects'],
  ['/a/..//evil.example/x', '/projects'],
  ['/\t/evil.example/x', '/projects'],
  ['https://evil.example', '/projects'],
  ['javascript:alert(1)', '/projects'],
  ['/sign-in?next=/x', '/projects'],
])('%s leads to %s', (next, path) => {
  expect(safeNext(next)).toBe(path)
})

test('unknown codes of errors are shown', () => {
  expect(signInError(undefined)).toBeUndefined()
  expect(signInError('refused')).toBe('The identity provider refused the sign-in.')
  expect(signInError('odd')).toContain('odd')
})
