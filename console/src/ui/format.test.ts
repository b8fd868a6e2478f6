import { expect, test } from 'vitest'
import { dayText } from './dates'
import { ago, lastTime, plural, words } from './format'

const now = new Date('2026-03-10T12:00:00Z')

test.each([
  ['2026-03-10T11:59:50Z', 'just now'],
  ['2026-03-10T11:59:10Z', '1 min ago'],
  ['2026-03-10T11:30:00Z', '30 min ago'],
  ['2026-03-10T09:00:00Z', '3 h ago'],
  ['2026-03-09T12:00:00Z', 'yesterday'],
  ['2026-03-10T12:20:00Z', 'in 20 min'],
  ['2026-03-12T12:00:00Z', 'in 2 days'],
])('%s is %s', (date, text) => {
  expect(ago(new Date(date), now)).toBe(text)
})

test('a time that the server notes rarely is told no closer', () => {
  const at = (time: string, minutes: number) => lastTime(new Date(`2026-03-10T${time}Z`), minutes, now)
  expect([at('11:58:00', 60), at('11:00:01', 60), at('11:00:00', 60), at('09:00:00', 60)]).toEqual(['< 1 h ago', '< 1 h ago', '1 h ago', '3 h ago'])
  expect([at('11:59:59', 15), at('11:45:00', 15)]).toEqual(['< 15 min ago', '15 min ago'])
})

test('older dates are absolute', () => {
  const date = new Date('2025-12-10T12:00:00Z')
  expect(ago(date, now)).toBe(dayText(date))
  expect(ago(date, now)).toContain('2025')
})

test('numbers with nouns and constants as words', () => {
  expect(plural(1, 'flag')).toBe('1 flag')
  expect(plural(12345, 'flag')).toBe('12,345 flags')
  expect(plural(2, 'strategy', 'strategies')).toBe('2 strategies')
  expect(words('UPDATE_FEATURE')).toBe('Update feature')
})
