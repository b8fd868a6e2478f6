import { dayText } from './dates'

const numbers = new Intl.NumberFormat('en')
const relativeDays = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** A number with separators: 12,345. */
export const number = (value: number) => numbers.format(value)

/** A number with its noun: plural(1, 'flag') is '1 flag', plural(2, 'flag') is '2 flags'. */
export const plural = (count: number, noun: string, nouns = `${noun}s`) => `${number(count)} ${count === 1 ? noun : nouns}`

/** A percentage: percent(12.5) is '12.5%'. No text has one in another form. */
export const percent = (value: number) => `${number(Number(value.toFixed(1)))}%`

const minute = 60
const hour = 60 * minute
const day = 24 * hour

// The time that all relative times of the page are told by. Those who show one follow it, so that no two disagree.
let current = Date.now()
const followers = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

/** The present time of all relative times: it moves on every 15 seconds. */
export const clock = {
  now: () => current,
  follow(follower: () => void) {
    if (followers.size === 0) current = Date.now()
    followers.add(follower)
    timer ??= setInterval(clock.tick, 15_000)
    return () => {
      followers.delete(follower)
      if (followers.size === 0) timer = void clearInterval(timer)
    }
  },
  tick() {
    current = Date.now()
    followers.forEach((follower) => follower())
  },
}

/** The present time of all relative times. */
export const now = clock.now

/** A date relative to now, short enough for a column: 'just now', '5 min ago', '3 h ago', 'yesterday'; above 30 days the date. */
export function ago(date: Date, now: Date = new Date(current)): string {
  const seconds = (date.getTime() - now.getTime()) / 1000
  const distance = Math.abs(seconds)
  if (distance < 45) return 'just now'
  if (distance > 30 * day) return dayText(date)
  if (distance >= day) return relativeDays.format(Math.round(seconds / day), 'day')
  const text = distance >= hour ? `${Math.round(distance / hour)} h` : `${Math.max(1, Math.round(distance / minute))} min`
  return seconds < 0 ? `${text} ago` : `in ${text}`
}

/** How often the server notes, at most, that a flag or token was used, in minutes. */
export const usesNoted = 60
/** The same for reports of an application, with the minutes until they are in the sums. */
export const reportsNoted = 15

/** When something last happened that the server notes only once in so many minutes: it may have happened again since, so a shorter time is not told. */
export function lastTime(date: Date, minutes: number, now: Date = new Date(current)): string {
  if ((now.getTime() - date.getTime()) / 1000 >= minutes * minute) return ago(date, now)
  return minutes === 60 ? '< 1 h ago' : `< ${minutes} min ago`
}

/** Names in a sentence: 'a, b and c'. */
export const listed = (names: readonly string[]) => [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(Boolean).join(' and ')

/** The name of a constant as words: 'feature-environment-enabled' is 'Feature environment enabled'. */
export function words(constant: string): string {
  const text = constant.replace(/[_-]+/g, ' ').toLowerCase().trim()
  return text.charAt(0).toUpperCase() + text.slice(1)
}
