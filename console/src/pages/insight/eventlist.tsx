import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo, useState, type ReactNode } from 'react'
import { accountName, actorOf, apiQuery, useMe, type Schema } from '../../api'
import { Button, DateTime, Icons, listed, number, plural } from '../../ui'
import { Diff } from '../../ui/diffview'
import { EnvironmentName } from '../../ui/environmentname'
import { changesOf, eventTitle, groupsOf, omittedOf, plainNames, subjectOf, type EventNames } from './eventtext'
import './events.css'

type Event = Schema<'LoggedEvent'>

type WithFlag = 'flag' | 'project' | undefined

interface EventListProps {
  events: readonly Event[]
  withFlag?: WithFlag
  label: string
  /** What can be done with an event, beside its details. */
  actions?: (event: Event) => ReactNode
}

/** Events, newest first, each with what it changed. withFlag also names the flag, or the flag and the project. */
export function EventList({ events, withFlag, label, actions }: EventListProps) {
  const names = useEventNames(events)
  return (
    <ol className="events" aria-label={label}>
      {groupsOf(events).map(({ request, events: group }) => {
        const rows = group.map((event) => (
          <li key={event.id}>
            <EventRow event={event} withFlag={withFlag} names={names} actions={actions?.(event)} />
          </li>
        ))
        const { id, project } = group[0]!
        if (request === undefined || !project) return rows
        return (
          <li key={id} className="event-group">
            <p>
              <span className="strong">Application of </span>
              <RequestLink project={project} id={request} />
              <span className="soft">: {plural(group.length, 'event')} at once</span>
            </p>
            <ol className="events" aria-label={`Application of change request #${request}`}>
              {rows}
            </ol>
          </li>
        )
      })}
    </ol>
  )
}

function RequestLink({ project, id }: { project: string; id: string }) {
  return (
    <Link to="/projects/$projectId/change-requests/$requestId" params={{ projectId: project, requestId: id }}>
      change request #{id}
    </Link>
  )
}

// The names of what events know by number, if these events have such numbers. Only administrators see events of users, and can read
// their names.
function useEventNames(events: readonly Event[]): EventNames {
  const { isAdmin } = useMe()
  const text = useMemo(() => JSON.stringify(events.map(({ data, preData }) => [data, preData])), [events])
  const people = { staleTime: 60_000, retry: false, enabled: isAdmin && /"(userId|roles|rootRole|role)":/.test(text) }
  const users = useQuery({ ...apiQuery('/api/admin/user-admin'), ...people })
  const accounts = useQuery({ ...apiQuery('/api/admin/service-account'), ...people })
  const roles = useQuery({ ...apiQuery('/api/admin/roles'), ...people })
  const segments = useQuery({ ...apiQuery('/api/admin/segments'), staleTime: 60_000, retry: false, enabled: /"segments":\[\d/.test(text) })
  const known = [...(users.data?.users ?? []), ...(accounts.data?.serviceAccounts ?? [])]
  const user = (id: number) => known.find((one) => one.id === id)
  return {
    user: (id) => (user(id) ? accountName(user(id)!) : plainNames.user(id)),
    role: (id) => roles.data?.roles.find((one) => one.id === id)?.name ?? plainNames.role(id),
    segment: (id) => segments.data?.segments.find((one) => one.id === id)?.name ?? plainNames.segment(id),
  }
}

function EventRow({ event, withFlag, names, actions }: { event: Event; withFlag?: WithFlag; names: EventNames; actions?: ReactNode }) {
  const [open, setOpen] = useState(false)
  const me = useMe().user?.id
  const { changes, more } = changesOf(event, names)
  const subject = subjectOf(event, names)
  const hasStates = event.preData !== null || event.data !== null
  const title = eventTitle(event.type)
  const omitted = omittedOf(event)
  return (
    <article className="event" aria-label={title}>
      <span className="event-dot" aria-hidden="true" />
      <div className="grow stack-s">
        <div className="row-apart">
          <div className="row grow">
            <h3>
              {title}
              {subject && <span className="break">: {subject}</span>}
            </h3>
            {typeof event.data?.changeRequestId === 'number' && event.project && (
              <RequestLink project={event.project} id={String(event.data.changeRequestId)} />
            )}
            {event.environment && <EnvironmentName name={event.environment} badge="neutral" />}
            {withFlag && <Subject event={event} withProject={withFlag === 'project'} />}
          </div>
          <div className="row">
            {actions}
            {hasStates && (
              <Button size="small" variant="quiet" aria-expanded={open} onClick={() => setOpen(!open)} icon={open ? <Icons.Chevron /> : <Icons.ChevronRight />}>
                Details
              </Button>
            )}
          </div>
        </div>
        {event.skippedChangeRequests && (
          <p className="strong">Made without a change request, which {listed(event.skippedChangeRequests)} needs: the person may skip it.</p>
        )}
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
        {omitted && <p className="break">Not in the log, because it is {omitted}.</p>}
        {open && <Diff before={event.preData} after={event.data} label={`${title}: state before and after`} />}
        <p className="soft small">
          <span className="break" title={`In the log: ${event.createdBy}`}>
            {actorOf(event)}
          </span>
          {event.createdByUserId === me && ' (you)'}, <DateTime value={event.createdAt} />
        </p>
      </div>
    </article>
  )
}

function Subject({ event, withProject }: { event: Event; withProject: boolean }) {
  const { project, featureName } = event
  return (
    <>
      {project && featureName && (
        <Link to="/projects/$projectId/flags/$flag/history" params={{ projectId: project, flag: featureName }} className="break">
          {featureName}
        </Link>
      )}
      {project && withProject && (
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
