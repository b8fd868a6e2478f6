/** The choices for the time that a token is valid, in days; '' is for ever. */
export const periods = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
]

const day = 24 * 60 * 60 * 1000

/** The moment that many days from now, as the API takes it; undefined for ''. */
export function expiryOf(days: string, now: Date = new Date()): string | undefined {
  return days === '' ? undefined : new Date(now.getTime() + Number(days) * day).toISOString()
}

/** Whether a token with this expiry is no longer valid. */
export function hasExpired(expiresAt: string | null | undefined, now: Date = new Date()): boolean {
  return Boolean(expiresAt) && new Date(expiresAt!).getTime() <= now.getTime()
}
