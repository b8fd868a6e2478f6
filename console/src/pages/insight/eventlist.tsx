import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useMemo, useState, type ReactNode } from 'react'
import { accountName, actorOf, apiQuery, errorText, isNotFound, useMe, type Schema } from '../../api'
import { Button, DateTime, IconButton, Icons, listed, plural, toast } from '../../ui'
import { Changes, ChangeText } from '../../ui/changes'
import { EnvironmentName } from '../../ui/environmentname'
import { flagPath } from '../flag/data'
import { restorableOf } from '../flag/restore/versions'
import { actsOf, changesOf, eventTitle, groupsOf, isOfDraft, omittedOf, plainNames, requestOf, subjectOf, type EventNames } from './eventtext'
import './events.css'

const RestoreDialog = lazy(() => import('../flag/restore/dialog'))

type Event = Schema<'LoggedEvent'>

type WithFlag = 'flag' | 'project' | undefined

interface EventListProps {
  events: readonly Event[]
  withFlag?: WithFlag
  label: string
}

/** Events, newest first, each with what it changed, which can be restored. withFlag also names the flag, or the flag and the project. */
export function EventList({ events, withFlag, label }: EventListProps) {
  const me = useMe().user?.id
  const names = useEventNames(events)
  const [restoring, setRestoring] = useState<Event>()
  // A plan sets its strategies: those of its first milestone come with switching on.
  const startsPlan = ({ type, createdAt, featureName }: Event) =>
    type === 'feature-environment-enabled' &&
    events.some((one) => one.type === 'release-plan-milestone-started' && one.createdAt === createdAt && one.featureName === featureName)
  const row = (event: Event, title?: ReactNode, earlier?: readonly Event[]) => (
    <EventRow
      event={event}
      withFlag={withFlag}
      names={names}
      title={title}
      earlier={earlier}
      onRestore={restorableOf(event).length > 0 && !startsPlan(event) ? () => setRestoring(event) : undefined}
    />
  )
  const seen = events.filter((event) => !isOfDraft(event) || event.createdByUserId === me)
  return (
    <>
      <ol className="events" aria-label={label}>
        {groupsOf(seen).map(({ request, applied, events: group }) => {
          const { id, project } = applied ?? group[0]!
          if (request === undefined || !project) return <li key={id}>{row(group[0]!, undefined, group.slice(1))}</li>
          const title = <Application project={project} id={request} count={group.length} />
          return (
            <li key={id} className="event-group">
              {applied ? row(applied, title) : <p className="event-title">{title}</p>}
              {group.length > 0 && (
                <ol className="events" aria-label={`Application of change request #${request}`}>
                  {group.map((event) => (
                    <li key={event.id}>{row(event)}</li>
                  ))}
                </ol>
              )}
            </li>
          )
        })}
      </ol>
      {restoring && <Restoring event={restoring} onClose={() => setRestoring(undefined)} />}
    </>
  )
}

function Restoring({ event, onClose }: { event: Event; onClose: () => void }) {
  const path = { projectId: event.project!, featureName: event.featureName! }
  const flag = useQuery({ ...apiQuery(flagPath, { path }), retry: false })
  useEffect(() => {
    if (!flag.error) return
    toast.error(isNotFound(flag.error) ? `The flag ${event.featureName} is not in project ${event.project} any more.` : errorText(flag.error))
    onClose()
  }, [flag.error, event, onClose])
  return (
    flag.data && (
      <Suspense fallback={null}>
        <RestoreDialog flag={flag.data} restorable={restorableOf(event)} onClose={onClose} />
      </Suspense>
    )
  )
}

const Application = ({ project, id, count }: { project: string; id: string; count: number }) => (
  <>
    Applied <RequestLink project={project} id={id} />
    {count > 0 && <span className="soft"> ({plural(count, 'change')})</span>}
  </>
)

function RequestLink({ project, id, start }: { project: string; id: string; start?: boolean }) {
  return (
    <Link to="/projects/$projectId/change-requests/$requestId" params={{ projectId: project, requestId: id }}>
      {start ? 'Change' : 'change'} request #{id}
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

interface EventRowProps {
  event: Event
  withFlag?: WithFlag
  names: EventNames
  /** Instead of what its type and subject say. */
  title?: ReactNode
  /** What the same person did with the same change request before. */
  earlier?: readonly Event[]
  onRestore?: () => void
}

// What happened, where, and what changed; who it was, and when.
function EventRow({ event, withFlag, names, title, earlier = [], onRestore }: EventRowProps) {
  const [open, setOpen] = useState(false)
  const me = useMe().user?.id
  const projects = useQuery({ ...apiQuery('/api/admin/projects'), staleTime: 60_000, enabled: withFlag === 'project' }).data?.projects ?? []
  const changes = changesOf(event, names)
  const subject = subjectOf(event, names)
  const hasStates = event.preData !== null || event.data !== null
  const text = eventTitle(event.type)
  const omitted = omittedOf(event)
  const request = event.project ? requestOf(event) : undefined
  const acts = request === undefined ? undefined : actsOf([event, ...earlier])
  // In the history of a flag, what changed says more than that it did.
  const saysIt = !withFlag && !title && changes.length > 0 && changing.has(event.type)
  return (
    <article className="event" aria-label={text}>
      <div className="event-line">
        <p className="event-title grow">
          {title || acts ? (
            <span className="strong">
              {title ?? (
                <>
                  <RequestLink project={event.project!} id={String(request)} start /> {acts}
                </>
              )}
            </span>
          ) : (
            !saysIt && <span className="strong break">{subject ? `${text}: ${subject}` : text}</span>
          )}
          {withFlag && !title && <FlagLink event={event} />}
          {!title && !acts && request !== undefined && <RequestLink project={event.project!} id={String(request)} />}
          {changes.slice(0, open ? 0 : shownChanges).map((change, index) => (
            <span key={index} className={saysIt ? 'strong break' : 'break'}>
              <ChangeText change={change} />
            </span>
          ))}
          {!open && changes.length > shownChanges && (
            <button type="button" className="more" onClick={() => setOpen(true)}>
              and {changes.length - shownChanges} more
            </button>
          )}
          {event.environment && (
            <span className="soft">
              in <EnvironmentName name={event.environment} />
            </span>
          )}
          {withFlag === 'project' && event.project && projects.length > 1 && (
            <Link to="/projects/$projectId" params={{ projectId: event.project }} className="plain-link event-project break">
              {projects.find(({ id }) => id === event.project)?.name ?? event.project}
            </Link>
          )}
          {omitted && <span className="soft break">not in the log, because it is {omitted}</span>}
          {event.skippedChangeRequests && <span className="strong">without a change request in {listed(event.skippedChangeRequests)}</span>}
        </p>
        <span className="event-by soft small break" title={`In the log: ${event.createdBy}`}>
          {actorOf(event)}
          {event.createdByUserId === me && ' (you)'}
          {event.agent && ` via ${event.agent}`}
        </span>
        <span className="event-at soft small">
          <DateTime value={event.createdAt} />
        </span>
        <span className="event-end">
          {onRestore && (
            <Button size="small" variant="quiet" onClick={onRestore} aria-label={`Restore: ${text}`}>
              Restore
            </Button>
          )}
          {hasStates && (
            <IconButton
              size="small"
              label={open ? 'Hide the details' : 'Show the details'}
              aria-expanded={open}
              onClick={() => setOpen(!open)}
              icon={open ? <Icons.Chevron /> : <Icons.ChevronRight />}
            />
          )}
        </span>
      </div>
      {open && <Changes changes={changes} before={event.preData} after={event.data} label={`${text}: state before and after`} />}
    </article>
  )
}

const changing = new Set(['feature-strategy-update', 'feature-environment-variants-updated', 'feature-metadata-updated'])

const shownChanges = 4

function FlagLink({ event: { project, featureName } }: { event: Event }) {
  return (
    project &&
    featureName && (
      <Link to="/projects/$projectId/flags/$flag/history" params={{ projectId: project, flag: featureName }} className="break">
        {featureName}
      </Link>
    )
  )
}
