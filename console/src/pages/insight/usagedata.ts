// Sums of the counts that applications reported.
import type { Schema } from '../../api'

type Row = Schema<'UsageRow'>

/** Counts of one hour or day. */
export interface UsagePoint {
  /** Start of the hour or day, in milliseconds. */
  time: number
  yes: number
  no: number
}

/** Counts of one application in one environment. */
export interface UsageOfApp {
  appName: string
  environment: string
  yes: number
  no: number
  /** How often each variant was chosen, the most frequent first. */
  variants: { name: string; count: number }[]
}

/** The rows of an environment and an application; an empty text means all. */
export function filterRows(rows: readonly Row[], environment: string, appName: string): Row[] {
  return rows.filter((row) => (!environment || row.environment === environment) && (!appName || row.appName === appName))
}

/** One point for each time, from the first to the last, with zeros between. step is the length of an hour or day in milliseconds. */
export function pointsOf(rows: readonly Row[], step: number): UsagePoint[] {
  const points = new Map<number, UsagePoint>()
  for (const row of rows) {
    const time = Date.parse(row.timestamp)
    const point = points.get(time) ?? { time, yes: 0, no: 0 }
    points.set(time, { time, yes: point.yes + row.yes, no: point.no + row.no })
  }
  const times = [...points.keys()].sort((a, b) => a - b)
  const last = times.at(-1)
  if (last === undefined) return []
  const result: UsagePoint[] = []
  for (let time = times[0]!; time <= last && result.length < maxPoints; time += step) result.push(points.get(time) ?? { time, yes: 0, no: 0 })
  return result
}

const maxPoints = 2200

/** The first and the last time of a chart of points, which ends now: the current hour or day is not over. */
export function spanOf(points: readonly UsagePoint[], step: number, now: number): [number, number] {
  const last = points.at(-1)!.time
  return [points[0]!.time, now > last ? now : last + step]
}

/** The index of the hour or day that a time is in; null if there is none. */
export function indexAt(points: readonly UsagePoint[], step: number, time: number): number | null {
  const index = points.findLastIndex((point) => point.time <= time)
  return index >= 0 && time < points[index]!.time + step ? index : null
}

/** The sums of each application and environment that evaluated the flag, the largest first. */
export function byApplication(rows: readonly Row[]): UsageOfApp[] {
  const sums = new Map<string, { app: UsageOfApp; variants: Map<string, number> }>()
  for (const row of rows) {
    if (row.yes + row.no === 0) continue
    const key = JSON.stringify([row.appName, row.environment])
    const sum = sums.get(key) ?? { app: { appName: row.appName, environment: row.environment, yes: 0, no: 0, variants: [] }, variants: new Map() }
    sum.app.yes += row.yes
    sum.app.no += row.no
    for (const [name, count] of Object.entries(row.variants ?? {})) sum.variants.set(name, (sum.variants.get(name) ?? 0) + count)
    sums.set(key, sum)
  }
  return [...sums.values()]
    .map(({ app, variants }) => ({ ...app, variants: [...variants].map(([name, count]) => ({ name, count })).sort((a, b) => b.count - a.count) }))
    .sort((a, b) => b.yes + b.no - (a.yes + a.no))
}

/** How often each variant was chosen, by all applications, the most frequent first. */
export function byVariant(apps: readonly UsageOfApp[]): { name: string; count: number }[] {
  const sums = new Map<string, number>()
  for (const { variants } of apps) for (const { name, count } of variants) sums.set(name, (sums.get(name) ?? 0) + count)
  return [...sums].map(([name, count]) => ({ name, count })).sort((a, b) => b.count - a.count)
}

/** The total of points. */
export function totalOf(points: readonly { yes: number; no: number }[]): { yes: number; no: number } {
  return points.reduce<{ yes: number; no: number }>((sum, point) => ({ yes: sum.yes + point.yes, no: sum.no + point.no }), { yes: 0, no: 0 })
}

/** The share of yes in percent, rounded; null without evaluations. Only an exact 0 or 100 % is rounded to these. */
export function shareOf({ yes, no }: { yes: number; no: number }): number | null {
  if (yes + no === 0) return null
  if (no === 0) return 100
  if (yes === 0) return 0
  return Math.min(99, Math.max(1, Math.round((100 * yes) / (yes + no))))
}
