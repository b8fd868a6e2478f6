// Times and safeguards of release plans in words.
import type { Schema } from '../../../api'
import { listed, plural } from '../../../ui/format'

/** What stops a plan: a signal, and what happens when it fires. */
export interface Safeguard {
  id: string
  signal: { alarm?: string; name?: string }
  action: { type: string }
  triggeredAt?: string | null
}

/** How a milestone ends: by hand, or after a time. */
export interface End {
  unit: 'hand' | 'minutes' | 'hours' | 'days'
  count: number | null
}

const minutesOf = { minutes: 1, hours: 60, days: 24 * 60 }

/** How a milestone ends that lasts for so many minutes; without them, a person ends it. */
export function endOf(minutes: number | undefined): End {
  if (!minutes) return { unit: 'hand', count: 1 }
  const unit = (['days', 'hours'] as const).find((one) => minutes % minutesOf[one] === 0) ?? 'minutes'
  return { unit, count: minutes / minutesOf[unit] }
}

/** The minutes of an end; null for one by hand. */
export const minutesIn = ({ unit, count }: End) => (unit === 'hand' ? null : (count ?? 0) * minutesOf[unit])

/** A time of so many minutes: '90 minutes', '2 hours', '1 day'. */
export function durationText(minutes: number): string {
  const { unit, count } = endOf(minutes)
  return plural(count ?? 0, unit.slice(0, -1))
}

/** How people call a signal: an alarm by its name. */
export const signalName = (signal: Safeguard['signal']) => signal.name ?? `alarm ${signal.alarm?.split(':alarm:')[1] ?? signal.alarm ?? ''}`

/** What a safeguard does. */
export const actionText = ({ type }: Safeguard['action']) => (type === 'off' ? 'switches the flag off' : 'pauses the plan')

/** The safeguards of a plan in a sentence: 'checkout-errors pauses the plan, alarm 5xx switches the flag off'. */
export const safeguardsText = (list: readonly Pick<Safeguard, 'signal' | 'action'>[]) =>
  listed(list.map(({ signal, action }) => `${signalName(signal)} ${actionText(action)}`))

/** The plan of a flag in a list: '2 h left' before its next milestone, 'paused', 'last milestone'; '' if the switch says it. */
export function planText({ planState, planNextAt }: Pick<Schema<'RowEnvironment'>, 'planState' | 'planNextAt'>, now: number): string {
  switch (planState) {
    case undefined:
    case 'off':
      return ''
    case 'last':
      return 'last step'
    case 'running':
      return planNextAt ? leftText(new Date(planNextAt), now) : 'next by hand'
  }
  return planState
}

/** How long it is until a time: '40 min left'. */
export function leftText(at: Date, now: number): string {
  const minutes = (at.getTime() - now) / 60_000
  if (minutes < 1) return 'due now'
  if (minutes < 60) return `${Math.round(minutes)} min left`
  return minutes < 2 * 24 * 60 ? `${Math.round(minutes / 60)} h left` : `${Math.round(minutes / 60 / 24)} d left`
}
