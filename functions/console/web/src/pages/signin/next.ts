/** The page to open after signing in: a path of this console, never another host. */
export function safeNext(next: string | undefined): string {
  if (!next || !/^\/(?![/\\])/.test(next)) return '/projects'
  const url = new URL(next, 'http://console.invalid')
  if (url.host !== 'console.invalid' || url.pathname === '/sign-in') return '/projects'
  return url.pathname + url.search + url.hash
}

/** What went wrong at the identity provider, by the code that the server puts into the address. */
export function signInError(code: string | undefined): string | undefined {
  if (!code) return undefined
  return messages[code] ?? `Signing in failed (${code.slice(0, 100)}). Try again.`
}

const messages: Record<string, string> = {
  access_denied: 'The identity provider refused the sign-in.',
  state: 'The sign-in took too long or was started in another browser. Try again.',
  expired: 'The sign-in took too long. Try again.',
  unknown_user: 'You have no account here. Ask an administrator to create one.',
  no_account: 'You have no account here. Ask an administrator to create one.',
  forbidden: 'Your account may not sign in. Ask an administrator.',
  email: 'The identity provider gave no verified email address. Ask an administrator.',
  provider: 'The identity provider cannot be reached. Try again later.',
}
