import { expect, test } from 'vitest'
import { dayText, fullDate, zonedDate } from './dates'

const date = new Date('2026-03-10T23:30:05Z')

test('dates in ISO 8601 and UTC', () => {
  const settings = { zone: 'utc', form: 'iso' } as const
  expect(fullDate(date, settings)).toBe('2026-03-10 23:30:05')
  expect(dayText(date, settings)).toBe('2026-03-10')
  expect(zonedDate(date, settings)).toBe('2026-03-10 23:30:05 UTC')
})

test('dates of the local time zone name it', () => {
  const settings = { zone: 'local', form: 'iso' } as const
  expect(zonedDate(date, settings)).toMatch(/^2026-03-1\d \d\d:\d\d:05 \S+$/)
})

test('dates are written as the texts of the console are', () => {
  const settings = { zone: 'utc', form: 'locale' } as const
  expect(zonedDate(date, settings)).toBe('10 Mar 2026, 23:30:05 UTC')
})
