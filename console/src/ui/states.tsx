import type { ReactNode } from 'react'
import { ApiError, errorText, isForbidden, isNotFound } from '../api/errors'
import { Button } from './button'
import { Icons } from './icons'
import './states.css'

interface StateProps {
  title: string
  /** What this is for, and what to do next, in one to three sentences. */
  children?: ReactNode
  action?: ReactNode
  icon?: ReactNode
}

/** Shown where a list is empty: it says what the list is for and offers the first step. */
export function EmptyState({ title, children, action, icon }: StateProps) {
  return (
    <div className="state">
      <span className="state-icon">{icon ?? <Icons.Flag />}</span>
      <h2>{title}</h2>
      {children && <div className="state-text">{children}</div>}
      {action && <div className="state-action">{action}</div>}
    </div>
  )
}

/** Shown where reading failed: the message of the server, and a button to try again. It also tells 403 and 404. */
export function ErrorState({ error, onRetry, title }: { error: unknown; onRetry?: () => void; title?: string }) {
  if (isForbidden(error)) return <Forbidden>{errorText(error)}</Forbidden>
  const missing = isNotFound(error)
  const id = error instanceof ApiError ? error.id : undefined
  return (
    <div className="state" role="alert">
      <span className="state-icon state-icon-error">
        <Icons.Warning />
      </span>
      <h2>{title ?? (missing ? 'Not found' : 'This could not be loaded')}</h2>
      <div className="state-text">
        <p>{errorText(error)}</p>
        {id && !missing && (
          <p className="small">
            Id in the log: <code className="break">{id}</code>
          </p>
        )}
      </div>
      {onRetry && !missing && (
        <div className="state-action">
          <Button icon={<Icons.Refresh />} onClick={onRetry}>
            Try again
          </Button>
        </div>
      )}
    </div>
  )
}

/** Shown where the caller lacks the permission to read. */
export function Forbidden({ children }: { children?: ReactNode }) {
  return (
    <div className="state">
      <span className="state-icon">
        <Icons.Shield />
      </span>
      <h2>No permission</h2>
      <div className="state-text">{children ?? <p>You are not allowed to see this. Ask an administrator for a role that includes it.</p>}</div>
    </div>
  )
}

/** A grey bar in place of a text that is being read. */
export function Skeleton({ width }: { width?: 'short' | 'medium' }) {
  return <span className={width ? `skeleton skeleton-${width}` : 'skeleton'} aria-hidden="true" />
}

/** Placeholder of a whole page or section that is being read. */
export function Loading({ label = 'Loading…', lines = 4 }: { label?: string; lines?: number }) {
  return (
    <div className="stack loading" role="status">
      <span className="visually-hidden">{label}</span>
      {Array.from({ length: lines }, (_, line) => (
        <Skeleton key={line} width={line % 3 === 2 ? 'medium' : undefined} />
      ))}
    </div>
  )
}

interface QueryLike<Data> {
  data: Data | undefined
  error: unknown
  isPending: boolean
  refetch: () => unknown
}

/** Loading, error or content of one query: <Loaded query={query}>{(data) => …}</Loaded>. */
export function Loaded<Data>({ query, children, lines }: { query: QueryLike<Data>; children: (data: Data) => ReactNode; lines?: number }) {
  if (query.data !== undefined) return <>{children(query.data)}</>
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />
  return <Loading lines={lines} />
}

/** The remarks that are true of a page, the most important first: only the first is shown, since two side by side are read as none. */
export const Notices = ({ of }: { of: readonly ReactNode[] }) => <>{of.find(Boolean)}</>

/** A remark in a line: warn says that a change widens who gets a flag in production, danger that something failed. */
export function Notice({
  kind = 'info',
  title,
  children,
  action,
}: {
  kind?: 'info' | 'warn' | 'danger' | 'ok'
  title?: string
  children?: ReactNode
  action?: ReactNode
}) {
  return (
    <div className={`notice notice-${kind}`}>
      <span className="notice-icon">{kind === 'info' ? <Icons.Info /> : kind === 'ok' ? <Icons.Check /> : <Icons.Warning />}</span>
      <div className="grow break">
        {title && <p className="strong">{title}</p>}
        {children}
      </div>
      {action}
    </div>
  )
}
