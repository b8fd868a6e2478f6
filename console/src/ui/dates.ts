// How absolute times are written: in the person's time zone or in UTC, as people write them or as ISO 8601. The choice is kept in
// this browser.
import { useSyncExternalStore } from 'react'
import { readStored, subscribeStored, writeStored } from './stored'

export interface DateSettings {
  zone: 'local' | 'utc'
  form: 'locale' | 'iso'
}

const key = 'guidon-dates'

// As a text, so that an unchanged choice is the same value.
const chosen = () => readStored(key) ?? ''

function parse(text: string): DateSettings {
  const words = text.split(' ')
  return { zone: words.includes('utc') ? 'utc' : 'local', form: words.includes('iso') ? 'iso' : 'locale' }
}

/** The chosen way to write dates. A component that calls it follows a change. */
export const useDates = (): DateSettings => parse(useSyncExternalStore(subscribeStored, chosen))

/** Chooses how dates are written. */
export const setDates = ({ zone, form }: DateSettings) => writeStored(key, `${zone} ${form}`)

/** The time zone of this browser: 'Europe/Zurich'. */
export const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone

const timeZone = ({ zone }: DateSettings) => (zone === 'utc' ? 'UTC' : localZone)

// Sweden writes dates as ISO 8601 does, Britain as the texts of the console.
const format = (date: Date, options: Intl.DateTimeFormatOptions, settings: DateSettings) =>
  new Intl.DateTimeFormat(settings.form === 'iso' ? 'sv-SE' : 'en-GB', { timeZone: timeZone(settings), ...options }).format(date)

/** A date with its time. */
export function fullDate(date: Date, settings = parse(chosen())): string {
  if (settings.form === 'iso') return format(date, { dateStyle: 'short', timeStyle: 'medium' }, settings)
  return format(date, { dateStyle: 'medium', timeStyle: 'medium' }, settings)
}

/** A date without its time. */
export function dayText(date: Date, settings = parse(chosen())): string {
  return format(date, { dateStyle: settings.form === 'iso' ? 'short' : 'medium' }, settings)
}

/** A date with its time and the time zone, for a tooltip: '29 Nov 2026, 00:32:01 UTC', '10 Mar 2026, 12:00:00 GMT+1'. */
export function zonedDate(date: Date, settings = parse(chosen())): string {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone: timeZone(settings), timeZoneName: 'short' }).formatToParts(date)
  return `${fullDate(date, settings)} ${parts.find(({ type }) => type === 'timeZoneName')?.value}`
}
