import { useQueryClient } from '@tanstack/react-query'
import { useRouter, useSearch } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useState } from 'react'
import { ApiError, errorText, send } from '../../api'
import { useSignInMethods, type SignInMethods } from '../../api/me'
import { Logo } from '../../shell/logo'
import { Button, CodeBlock, ErrorState, Loading, Notice } from '../../ui'
import { safeNext, signInError } from './next'
import './signin.css'

/** Signs in by a one-time link (#link=…) or an identity provider. */
export default function SignInPage() {
  const { next, error } = useSearch({ from: '/sign-in' })
  const router = useRouter()
  const client = useQueryClient()
  const methods = useSignInMethods()
  const link = useLink(() => {
    client.clear()
    router.history.replace(safeNext(next))
  })
  useEffect(() => {
    document.title = 'Sign in · Guidon'
  }, [])
  const failure = link.error ?? signInError(error)
  return (
    <div className="signin">
      <div className="signin-card">
        <p className="signin-brand">
          <Logo />
          Guidon
        </p>
        <h1 tabIndex={-1}>Sign in</h1>
        {failure && (
          <div role="alert">
            <Notice kind="danger">{failure}</Notice>
          </div>
        )}
        {link.pending ? (
          <Loading label="Signing in…" lines={2} />
        ) : link.replace ? (
          <div className="stack-s">
            <p>Another person is signed in to this browser. Continue only if you expected this link.</p>
            <Button variant="primary" onClick={link.replace}>
              Sign in with the link
            </Button>
            <Button onClick={() => router.history.replace('/')}>Stay signed in</Button>
          </div>
        ) : methods.data ? (
          <Ways methods={methods.data} next={safeNext(next)} onContinue={() => router.history.push(safeNext(next))} />
        ) : methods.error ? (
          <ErrorState error={methods.error} onRetry={() => void methods.refetch()} />
        ) : (
          <Loading lines={2} />
        )}
      </div>
    </div>
  )
}

function Ways({ methods, next, onContinue }: { methods: SignInMethods; next: string; onContinue: () => void }) {
  if (methods.open) {
    return (
      <>
        <p>This server needs no sign-in (AUTH_TYPE=none). Everyone who reaches it is an administrator.</p>
        <Button variant="primary" onClick={onContinue}>
          Continue
        </Button>
      </>
    )
  }
  return (
    <>
      {methods.oidc && (
        <a className="button button-primary" href={`${methods.oidc.url}?next=${encodeURIComponent(next)}`}>
          Sign in with {methods.oidc.name}
        </a>
      )}
      {methods.link && (
        <div className="stack-s">
          {methods.oidc && <h2>Or with a link</h2>}
          <p>Open the link that an administrator sent you. It signs you in once.</p>
          <p className="soft">For a new link, ask an administrator, who creates it on the page Users. On the server, this prints one:</p>
          <CodeBlock code="guidon link" label="Command that prints a link" />
        </div>
      )}
    </>
  )
}

// The sign-in that is on its way. It is kept here, because React mounts the page twice in development.
let sent: Promise<unknown> | undefined

// takeSecret returns the secret in the fragment, and removes it from the address.
function takeSecret(): string | undefined {
  if (!location.hash.startsWith('#link=')) return undefined
  const secret = location.hash.slice('#link='.length)
  history.replaceState(history.state, '', location.pathname + location.search)
  return secret
}

interface LinkState {
  pending: boolean
  error?: string
  /** Signs in although another user is signed in. */
  replace?: () => void
}

// useLink signs in with the secret of the fragment: when the page is opened, and when a link is opened in its tab. If another user is
// signed in, the person has to agree: a page of another site can open a link, too.
function useLink(onSignedIn: () => void) {
  const [state, setState] = useState<LinkState>({ pending: location.hash.startsWith('#link=') })
  const signedIn = useEffectEvent(onSignedIn)
  useEffect(() => {
    let current = true
    const signIn = () => {
      const secret = takeSecret()
      if (secret) start(secret, false)
      else if (sent) follow(sent)
    }
    const start = (secret: string, replace: boolean) => {
      const attempt = send('post', '/auth/link', { body: { secret, replace }, quiet: true }).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 409) return () => start(secret, true)
        throw error
      })
      sent = attempt
      follow(attempt)
    }
    const follow = (attempt: Promise<unknown>) => {
      setState({ pending: true })
      attempt.then(
        (result) => {
          if (!current) return
          sent = undefined
          if (typeof result === 'function') setState({ pending: false, replace: result as () => void })
          else signedIn()
        },
        (error: unknown) => {
          if (!current) return
          sent = undefined
          const used = error instanceof ApiError && error.status === 401
          setState({ pending: false, error: used ? 'This link was used already, has expired or is not valid. Ask for a new one.' : errorText(error) })
        },
      )
    }
    signIn()
    window.addEventListener('hashchange', signIn)
    return () => {
      current = false
      window.removeEventListener('hashchange', signIn)
    }
  }, [])
  return state
}
