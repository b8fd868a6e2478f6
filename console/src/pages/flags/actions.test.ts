import { expect, test } from 'vitest'
import { changedBy, foreseen, resultText, staleAction, switchAction } from './actions'
import type { FlagRow } from './rows'

const row = (name: string, enabled: boolean, hasStrategies = true) =>
  ({ name, stale: enabled, environments: [{ name: 'production', enabled, hasStrategies }] }) as FlagRow
const flags = [row('on', true), row('off', false), row('bare', false, false)]

test.each([
  [flags, true, undefined, ['off'], '1 of 3 flags will be switched on; 1 is on already; 1 cannot, without a strategy there.'],
  [
    flags,
    true,
    '30% of users.',
    ['off', 'bare'],
    "2 of 3 flags will be switched on; 1 is on already. 1 has no strategy there, so the project's default strategy is added: 30% of users.",
  ],
  [flags, false, '30% of users.', ['on'], '1 of 3 flags will be switched off; 2 are off already.'],
  [[row('on', true)], true, undefined, [], '0 of 1 flag will be switched on; 1 is on already.'],
])('foresees a switch of %# flags', (of, on, standard, changing, text) => {
  expect(foreseen(of, 'production', on, () => standard)).toEqual({ changing, text })
})

test('counts only the flags that were changed', () => {
  const on = switchAction('shop', flags, 'production', true)
  expect(changedBy(on, { done: ['on', 'off'], failed: [] })).toEqual(['off'])
  expect(resultText(on, { done: ['on', 'off'], failed: [] })).toBe('1 flag switched on in production; 1 was on already')
  expect(resultText(on, { done: ['on'], failed: [] })).toBe('No flag switched on in production; 1 flag was on already')
  expect(resultText(staleAction('shop', flags, false), { done: ['off', 'bare', 'on'], failed: [] })).toBe('1 flag marked as active; 2 were active already')
})
