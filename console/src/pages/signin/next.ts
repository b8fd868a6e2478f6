/** The page to open after signing in: a path of this console, never another host. */
export function safeNext(next: string | undefined): string {
  if (!next || !/^\/(?![/\\])/.test(next)) return '/projects'
  const url = new URL(next, 'http://console.invalid')
  if (url.host !== 'console.invalid' || url.pathname === '/sign-in') return '/projects'
  if (url.pathname.startsWith('//')) return '/projects' // "/.//host" becomes that, which is an address of another host
  return url.pathname + url.search + url.hash
}

/** Why someone has to sign in (again), by the code in the address. */
export function signInError(code: string | undefined): string | undefined {
  if (!code) return undefined
  return messages[code] ?? `Signing in failed (${code.slice(0, 100)}). Try again.`
}

// The codes of pkg/oidc, and that of a session that has ended.
const messages: Record<string, string> = {
  ended: 'Your session has ended. Sign in again.',
  'provider-unavailable': 'The identity provider cannot be reached. Try again later.',
  misconfigured: 'Sign-in is not set up correctly. Ask an administrator: the server log has the details.',
  refused: 'The identity provider refused the sign-in.',
  expired: 'The sign-in took too long or was started in another browser. Try again.',
  'no-access': 'Your account has no access to Guidon. Ask an administrator.',
  'not-linked': 'A user with your name or email address exists, but your provider has not verified the address. Ask an administrator.',
}
