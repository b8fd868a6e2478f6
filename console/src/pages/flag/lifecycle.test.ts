import { expect, test } from 'vitest'
import { lifecycleStages } from '../flags/rows'
import { lifecycleText } from './lifecycle'

const production = (enabled: boolean) => [
  { type: 'development', enabled: true },
  { type: 'production', enabled },
]

test.each([
  ['initial', 'Initial', 'Initial'],
  ['pre-live', 'Pre-live', 'Pre-live'],
  ['live', 'Live', 'Live, off'],
  ['completed', 'Completed', 'Completed'],
])('%s is %s, and %s when production is off', (stage, on, off) => {
  expect(lifecycleText({ stage }, production(true)).label).toBe(on)
  expect(lifecycleText({ stage }, production(false)).label).toBe(off)
  expect(lifecycleStages.find(({ value }) => value === stage)?.label).toBe(on)
})
