import type { ErrorComponentProps } from '@tanstack/react-router'
import { useEffect } from 'react'
import { Button, LinkButton } from '../ui/button'
import { EmptyState, ErrorState, Loading } from '../ui/states'
import { Icons } from '../ui/icons'
import { Page } from './page'

/** Shown at an address that no page has. */
export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <EmptyState
        icon={<Icons.Search />}
        title="There is no page at this URL"
        action={
          <div className="row">
            <LinkButton to="/projects" variant="primary">
              Go to the projects
            </LinkButton>
            <LinkButton to="/flags" icon={<Icons.Search />}>
              Search all flags
            </LinkButton>
          </div>
        }
      >
        <p>The link may be old, or the item was renamed or deleted.</p>
      </EmptyState>
    </Page>
  )
}

/** Shown instead of a page that fails. After an update of the server the files of the old console are gone: it then loads again. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const outdated = /dynamically imported module|module script|preload CSS/i.test(String(error))
  useEffect(() => console.error(error), [error])
  return (
    <Page title={outdated ? 'Guidon was updated' : 'This page could not be shown'}>
      {outdated ? (
        <EmptyState
          icon={<Icons.Refresh />}
          title="Load the new version of the console"
          action={
            <Button variant="primary" onClick={() => window.location.reload()}>
              Load again
            </Button>
          }
        >
          <p>This part of the console could not be loaded. It was updated since you opened it, or the connection failed.</p>
        </EmptyState>
      ) : (
        <ErrorState error={error} title="An error in the console" onRetry={reset} />
      )}
    </Page>
  )
}

/** Shown while the code of a page is loaded. */
export function PagePending() {
  return (
    <div className="page">
      <Loading />
    </div>
  )
}
