import { lastUse } from './expiry'

/** When a token was last used, in a column. */
export function LastUse({ token: { seenAt } }: { token: { seenAt: string | null } }) {
  if (!seenAt) return <span className="soft">Never</span>
  const text = lastUse(seenAt)
  return <time dateTime={seenAt}>{text.charAt(0).toUpperCase() + text.slice(1)}</time>
}
