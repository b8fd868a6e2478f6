import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schema } from '../../api'
import { Badge, Button, DateTime, Icons, number } from '../../ui'
import { Diff } from '../../ui/diffview'
import { changesOf, eventTitle } from './eventtext'
import './events.css'

type Event = Schema<'Event'>

/** Events, newest first, each with what it changed. withFlag also names the project and the flag. */
export function EventList({ events, withFlag, label }: { events: readonly Event[]; withFlag?: boolean; label: string }) {
  return (
    <ol className="events" aria-label={label}>
      {events.map((event) => (
        <li key={event.id}>
          <EventRow event={event} withFlag={withFlag} />
        </li>
      ))}
    </ol>
  )
}

function EventRow({ event, withFlag }: { event: Event; withFlag?: boolean }) {
  const [open, setOpen] = useState(false)
  const { changes, more } = changesOf(event)
  const hasStates = event.preData !== null || event.data !== null
  const title = eventTitle(event.type)
  return (
    <article className="event" aria-label={title}>
      <span className="event-dot" aria-hidden="true" />
      <div className="grow stack-s">
        <div className="row-apart">
          <div className="row grow">
            <h3>{title}</h3>
            {event.environment && <Badge>{event.environment}</Badge>}
            {withFlag && <Subject event={event} />}
          </div>
          {hasStates && (
            <Button size="small" variant="quiet" aria-expanded={open} onClick={() => setOpen(!open)} icon={open ? <Icons.Chevron /> : <Icons.ChevronRight />}>
              Details
            </Button>
          )}
        </div>
        {changes.length > 0 && !open && (
          <ul className="stack-s">
            {changes.map((change) => (
              <li key={change.path} className="break">
                <span className="soft">{change.path}:</span> <del className="event-before">{change.before}</del>
                <span className="visually-hidden"> became </span>
                <span aria-hidden="true"> → </span>
                <ins className="event-after">{change.after}</ins>
              </li>
            ))}
            {more > 0 && <li className="soft">and {number(more)} more</li>}
          </ul>
        )}
        {open && <Diff before={event.preData} after={event.data} label={`${title}: state before and after`} />}
        <p className="soft small">
          <span className="break">{event.createdBy}</span>, <DateTime value={event.createdAt} />
        </p>
      </div>
    </article>
  )
}

function Subject({ event }: { event: Event }) {
  const { project, featureName } = event
  return (
    <>
      {project && featureName && (
        <Link to="/projects/$projectId/flags/$flag/history" params={{ projectId: project, flag: featureName }} className="break">
          {featureName}
        </Link>
      )}
      {project && (
        <span className="soft">
          in{' '}
          <Link to="/projects/$projectId" params={{ projectId: project }} className="break">
            {project}
          </Link>
        </span>
      )}
    </>
  )
}
