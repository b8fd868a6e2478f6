import { expect, test } from 'vitest'
import { byApplication, byVariant, filterRows, indexAt, pointsOf, shareOf, spanOf, totalOf } from './usagedata'

const hour = 3_600_000
const row = (hours: number, appName: string, environment: string, yes: number, no: number, variants?: Record<string, number>) => ({
  featureName: 'f',
  appName,
  environment,
  yes,
  no,
  variants,
  timestamp: new Date(hours * hour).toISOString(),
})
const rows = [
  row(5, 'shop', 'production', 3, 1, { blue: 2, red: 1 }),
  row(2, 'shop', 'development', 0, 4),
  row(2, 'till', 'production', 1, 0),
  row(4, 'shop', 'production', 2, 0, { red: 2 }),
  row(4, 'till', 'development', 0, 0),
]

test('points have every hour between the first and the last, in order', () => {
  expect(pointsOf(rows, hour)).toEqual([
    { time: 2 * hour, yes: 1, no: 4 },
    { time: 3 * hour, yes: 0, no: 0 },
    { time: 4 * hour, yes: 2, no: 0 },
    { time: 5 * hour, yes: 3, no: 1 },
  ])
  expect(pointsOf([], hour)).toEqual([])
})

test('a chart ends now, and not when the current hour does', () => {
  const points = pointsOf(rows, hour)
  expect(spanOf(points, hour, 5.4 * hour)).toEqual([2 * hour, 5.4 * hour])
  expect(spanOf(points, hour, 4.9 * hour)).toEqual([2 * hour, 6 * hour]) // the clock of the browser is behind
})

test('a time belongs to the hour that it is in', () => {
  const points = pointsOf(rows, hour)
  expect([1.9, 2, 2.9, 3.1, 5.99, 6].map((hours) => indexAt(points, hour, hours * hour))).toEqual([null, 0, 0, 1, 3, null])
})

test('sums of applications, with variants', () => {
  expect(byApplication(rows)).toEqual([
    {
      appName: 'shop',
      environment: 'production',
      yes: 5,
      no: 1,
      variants: [
        { name: 'red', count: 3 },
        { name: 'blue', count: 2 },
      ],
    },
    { appName: 'shop', environment: 'development', yes: 0, no: 4, variants: [] },
    { appName: 'till', environment: 'production', yes: 1, no: 0, variants: [] },
  ])
})

test('rows of an environment and an application', () => {
  expect(filterRows(rows, 'production', 'shop').map((one) => one.yes)).toEqual([3, 2])
  expect(filterRows(rows, '', '')).toHaveLength(5)
})

test('totals and shares', () => {
  expect(totalOf(rows)).toEqual({ yes: 6, no: 5 })
  expect(shareOf({ yes: 0, no: 0 })).toBeNull()
  expect([
    shareOf({ yes: 1, no: 999 }),
    shareOf({ yes: 999, no: 1 }),
    shareOf({ yes: 1, no: 0 }),
    shareOf({ yes: 0, no: 1 }),
    shareOf({ yes: 1, no: 2 }),
  ]).toEqual([1, 99, 100, 0, 33])
})

test('variants are summed over the applications', () => {
  expect(byVariant(byApplication(rows))).toEqual([
    { name: 'red', count: 3 },
    { name: 'blue', count: 2 },
  ])
})
