import { useId, useState, type ReactNode } from 'react'
import { IconButton } from './button'
import { Icons } from './icons'
import { Meter } from './bits'
import './row.css'

interface RowProps {
  /** What the row is, in one sentence: '25% of users in segment Beta.' */
  sentence: ReactNode
  /** Names the row for screen readers: 'Strategy 1: Gradual rollout'. */
  label: string
  /** Before the sentence, such as its title. */
  title?: ReactNode
  /** After the sentence: badges, at most one or two. */
  marks?: ReactNode
  /** The percentage of the sentence, as a slim bar. */
  percent?: number
  /** Buttons at the end. */
  actions?: ReactNode
  /** Below the sentence, always shown: one line. */
  note?: ReactNode
  /** Opens in place. */
  details?: ReactNode
  soft?: boolean
}

/** A compact row of a card, such as a strategy: one sentence, its percentage with a slim bar, buttons, and details that open in place. */
export function Row({ sentence, label, title, marks, percent, actions, note, details, soft }: RowProps) {
  const [open, setOpen] = useState(false)
  const id = useId()
  return (
    <article className={soft ? 'line line-soft' : 'line'} aria-label={label}>
      <div className="line-main">
        {details && (
          <IconButton
            size="small"
            label={open ? `Hide the details of ${label}` : `Show the details of ${label}`}
            aria-expanded={open}
            aria-controls={id}
            icon={open ? <Icons.Chevron /> : <Icons.ChevronRight />}
            onClick={() => setOpen(!open)}
          />
        )}
        <div className="grow line-text">
          {title && <span className="strong break">{title}</span>}
          <span className="break">{sentence}</span>
          {marks}
        </div>
        {percent !== undefined && <Meter bare label={`${label}: percentage`} value={percent} />}
        {actions && <div className="line-actions">{actions}</div>}
      </div>
      {note && <div className="line-note">{note}</div>}
      {details && open && (
        <div id={id} className="line-details">
          {details}
        </div>
      )}
    </article>
  )
}
