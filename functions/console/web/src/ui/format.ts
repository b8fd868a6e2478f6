const numbers = new Intl.NumberFormat('en')
const dates = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
const days = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' })
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** A number with separators: 12,345. */
export const number = (value: number) => numbers.format(value)

/** A number with its noun: plural(1, 'flag') is '1 flag', plural(2, 'flag') is '2 flags'. */
export const plural = (count: number, noun: string, nouns = `${noun}s`) => `${number(count)} ${count === 1 ? noun : nouns}`

/** A date with its time, in the time zone of the browser. */
export const fullDate = (date: Date) => dates.format(date)

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

/** A date relative to now: 'just now', '5 minutes ago', 'yesterday'; above 30 days the date. */
export function ago(date: Date, now: Date = new Date()): string {
  const seconds = (date.getTime() - now.getTime()) / 1000
  if (Math.abs(seconds) < 45) return 'just now'
  if (Math.abs(seconds) > 30 * 86_400) return days.format(date)
  for (const [unit, length] of units) {
    if (Math.abs(seconds) >= length || unit === 'minute') return relative.format(Math.round(seconds / length) || Math.sign(seconds), unit)
  }
  return days.format(date)
}

/** The name of a constant as words: 'feature-environment-enabled' is 'Feature environment enabled'. */
export function words(constant: string): string {
  const text = constant.replace(/[_-]+/g, ' ').toLowerCase().trim()
  return text.charAt(0).toUpperCase() + text.slice(1)
}
