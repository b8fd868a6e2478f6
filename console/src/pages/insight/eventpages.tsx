import { Button, Icons, number } from '../../ui'

interface EventPagesProps {
  /** Cursor of the shown page; empty for the newest. */
  cursor: string
  next: string | null | undefined
  total?: number
  onChange: (cursor: string) => void
}

/** Buttons for older and the newest events. The list has cursors, so that there is no number of the page. */
export function EventPages({ cursor, next, total, onChange }: EventPagesProps) {
  return (
    <nav className="pagination" aria-label="Pages of events">
      <span className="soft number">{total === undefined ? '' : `${number(total)} ${total === 1 ? 'event' : 'events'}`}</span>
      {(cursor || next) && (
        <span className="row">
          <Button size="small" icon={<Icons.ChevronLeft />} disabledReason={cursor ? undefined : 'These are the newest events.'} onClick={() => onChange('')}>
            Newest
          </Button>
          <Button size="small" disabledReason={next ? undefined : 'There are no older events.'} onClick={() => onChange(next ?? '')}>
            Older
            <Icons.ChevronRight />
          </Button>
        </span>
      )}
    </nav>
  )
}

/** How many events a page has. */
export const eventPage = 50
