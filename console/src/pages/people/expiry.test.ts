import { expect, test } from 'vitest'
import { expiryOf, hasExpired } from './expiry'

const now = new Date('2026-11-23T12:00:00Z')

test('a period becomes a date', () => {
  expect(expiryOf('7', now)).toBe('2026-11-30T12:00:00.000Z')
  expect(expiryOf('', now)).toBeUndefined()
})

test('a token expires at its date', () => {
  expect(hasExpired('2026-11-23T11:59:59Z', now)).toBe(true)
  expect(hasExpired('2026-11-23T12:00:00Z', now)).toBe(true)
  expect(hasExpired('2026-11-23T12:00:01Z', now)).toBe(false)
  expect(hasExpired(null, now)).toBe(false)
})
