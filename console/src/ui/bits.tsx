import { useState, useSyncExternalStore, type ReactNode } from 'react'
import './bits.css'
import { Button, IconButton } from './button'
import { fullDate, useDates, zonedDate } from './dates'
import { ago, clock, lastTime, number, percent } from './format'
import { Icons } from './icons'
import { toast } from './toasts'

/** A short state: <Badge kind="ok">Active</Badge>. */
export function Badge({ kind = 'neutral', children }: { kind?: 'neutral' | 'ok' | 'warn' | 'danger' | 'accent'; children: ReactNode }) {
  return <span className={`badge badge-${kind}`}>{children}</span>
}

/** A value that can be removed, such as a filter or a legal value. */
export function Chip({ children, onRemove, removeLabel }: { children: ReactNode; onRemove?: () => void; removeLabel?: string }) {
  return (
    <span className="chip">
      <span className="break">{children}</span>
      {onRemove && (
        <button type="button" aria-label={removeLabel ?? 'Remove'} onClick={onRemove}>
          <Icons.Close />
        </button>
      )}
    </span>
  )
}

/** A tag of a flag: its value, after its type unless that is the simple one. */
export function Tag({ type, value, onRemove }: { type: string; value: string; onRemove?: () => void }) {
  return (
    <Chip onRemove={onRemove} removeLabel={`Remove tag ${type}:${value}`}>
      {type !== 'simple' && <span className="soft">{type}:</span>}
      {value}
    </Chip>
  )
}

/** A date: relative to now, or absolute, with the full date and the time zone as title. It stays current. */
interface DateTimeProps {
  value: string | number | Date | null | undefined
  absolute?: boolean
  /** How often the server notes it, in minutes, see lastTime. */
  noted?: number
  /** The text if there is no value. */
  never?: string
}

export function DateTime({ value, absolute, noted, never = 'Never' }: DateTimeProps) {
  useSyncExternalStore(clock.follow, clock.now)
  useDates()
  if (value === null || value === undefined || value === '') return <span className="soft">{never}</span>
  const date = new Date(value)
  if (Number.isNaN(date.getTime())) return <span>{String(value)}</span>
  return (
    <time className="nowrap" dateTime={date.toISOString()} title={noted ? `${zonedDate(date)}, or up to ${noted} min later` : zonedDate(date)}>
      {absolute ? fullDate(date) : noted ? lastTime(date, noted) : ago(date)}
    </time>
  )
}

/** Copies a text. label names what is copied: 'Copy token'. */
export function CopyButton({ text, label, showLabel }: { text: string; label: string; showLabel?: boolean }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
      setTimeout(() => setCopied(false), 2000)
    } catch {
      toast.error('The browser does not allow copying here. Select the text and copy it.')
    }
  }
  const icon = copied ? <Icons.Check /> : <Icons.Copy />
  return (
    <>
      {showLabel ? (
        <Button icon={icon} onClick={copy}>
          {copied ? 'Copied' : label}
        </Button>
      ) : (
        <IconButton size="small" label={label} icon={icon} onClick={copy} />
      )}
      <span className="visually-hidden" role="status">
        {copied ? 'Copied' : ''}
      </span>
    </>
  )
}

/** A block of code with a button to copy it. label names the code: 'Snippet for Node.js'. children are shown instead, such as highlight(code). */
export function CodeBlock({ code, label, wrap, children }: { code: string; label: string; wrap?: boolean; children?: ReactNode }) {
  return (
    <div className="code-block">
      <pre tabIndex={0} role="region" aria-label={label} className={wrap ? 'code-wrap' : undefined}>
        <code>{children ?? code}</code>
      </pre>
      <div className="code-copy">
        <CopyButton text={code} label={`Copy ${label}`} />
      </div>
    </div>
  )
}

/** A part of a page in a box, with a heading. */
export function Section({
  title,
  description,
  actions,
  children,
  danger,
}: {
  title?: ReactNode
  description?: ReactNode
  actions?: ReactNode
  children?: ReactNode
  danger?: boolean
}) {
  return (
    <section className={danger ? 'card card-danger' : 'card'}>
      {(title || actions) && (
        <div className="row-apart card-head">
          <div>
            {title && <h2>{title}</h2>}
            {description && <p className="soft">{description}</p>}
          </div>
          {actions && <div className="row">{actions}</div>}
        </div>
      )}
      {children}
    </section>
  )
}

/** Pairs of name and value. */
export function Facts({ items }: { items: [name: string, value: ReactNode][] }) {
  return (
    <dl className="facts">
      {items.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="break">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A figure with its name, for overviews. */
export function Figure({ label, value, hint }: { label: string; value: ReactNode; hint?: ReactNode }) {
  return (
    <div className="figure">
      <p className="soft">{label}</p>
      <p className="figure-value number">{value}</p>
      {hint && <p className="soft small">{hint}</p>}
    </div>
  )
}

/** A slim bar from 0 to 100 with its value as text, for rollout and health. */
export function Meter({ label, value, kind = 'accent', bare }: { label: string; value: number; kind?: 'accent' | 'ok' | 'warn' | 'danger'; bare?: boolean }) {
  return (
    <span className="meter-box">
      <span className={`meter meter-${kind}`} role="meter" aria-label={label} aria-valuemin={0} aria-valuemax={100} aria-valuenow={value}>
        <span style={{ width: `${Math.max(0, Math.min(100, value))}%` }} />
      </span>
      {!bare && <span className="meter-value number">{percent(value)}</span>}
    </span>
  )
}

interface PaginationProps {
  /** Index of the first shown item. */
  offset: number
  limit: number
  total: number
  onChange: (offset: number) => void
  /** Plural noun: 'events'. */
  noun: string
}

/** Which part of a long list is shown, with buttons for the next and the previous part. */
export function Pagination({ offset, limit, total, onChange, noun }: PaginationProps) {
  if (total === 0) return null
  const last = Math.min(offset + limit, total)
  return (
    <nav className="pagination" aria-label={`Pages of ${noun}`}>
      <span className="soft number">
        {number(offset + 1)}–{number(last)} of {number(total)} {noun}
      </span>
      {total > limit && (
        <span className="row">
          <Button
            size="small"
            icon={<Icons.ChevronLeft />}
            disabledReason={offset === 0 ? 'This is the first page.' : undefined}
            onClick={() => onChange(Math.max(0, offset - limit))}
          >
            Previous
          </Button>
          <Button size="small" disabledReason={last >= total ? 'This is the last page.' : undefined} onClick={() => onChange(offset + limit)}>
            Next
            <Icons.ChevronRight />
          </Button>
        </span>
      )}
    </nav>
  )
}
