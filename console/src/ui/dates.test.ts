import { expect, test } from 'vitest'
import { dayText, fullDate, localZone, zonedDate } from './dates'

const date = new Date('2026-03-10T23:30:05Z')

test('dates in ISO 8601 and UTC', () => {
  const settings = { zone: 'utc', form: 'iso' } as const
  expect(fullDate(date, settings)).toBe('2026-03-10 23:30:05')
  expect(dayText(date, settings)).toBe('2026-03-10')
  expect(zonedDate(date, settings)).toBe('2026-03-10 23:30:05, UTC')
})

test('dates of the local time zone name it', () => {
  const settings = { zone: 'local', form: 'iso' } as const
  expect(zonedDate(date, settings)).toMatch(/^2026-03-1\d \d\d:\d\d:05, (UTC|\S+ \(GMT.*\))$/)
  expect(zonedDate(date, settings)).toContain(localZone)
})

test('dates as the language of the browser writes them', () => {
  const settings = { zone: 'utc', form: 'locale' } as const
  expect(fullDate(date, settings)).toBe(new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' }).format(date))
})
