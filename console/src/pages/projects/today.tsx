import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { actorName, actorOf, apiQuery, useMe } from '../../api'
import { isDraftOf, openRequests, titleOf, waits, type RequestRow } from '../../requests/data'
import { DateTime, isProduction, now, plural } from '../../ui'
import { ProjectName } from '../../ui/projectname'
import { planText } from '../flag/plan/words'
import { changeText, plainNames } from '../insight/eventtext'

const shown = 5
const read = 30
/** A search reads the flags of all projects: with more of them it is not worth its price on a page of every visit. */
const searchedFlags = 1000

// What changes who gets a flag.
const changes =
  'IS_ANY_OF:feature-environment-enabled,feature-environment-disabled,feature-strategy-add,feature-strategy-update,feature-strategy-remove,feature-environment-variants-updated,release-plan-added,release-plan-removed,release-plan-milestone-started,safeguard-triggered'

const today = () => new Date(new Date().setHours(0, 0, 0, 0)).toISOString()

/** What waits for the person, its drafts and favorites, and what changed in production today. flags is how many there are. */
export default function Today({ flags }: { flags: number }) {
  const { user } = useMe()
  const open = useQuery({ ...openRequests(), staleTime: 60_000, retry: false }).data?.changeRequests ?? []
  const waiting = open.filter(waits)
  const drafts = open.filter((one) => isDraftOf(one, user?.id))
  return (
    <>
      {waiting.length > 0 && <Requests title="Waiting for you" rows={waiting} />}
      {drafts.length > 0 && <Requests title="Your drafts" rows={drafts} />}
      {flags <= searchedFlags && <Plans />}
      <Changes />
      {flags <= searchedFlags && <Favorites />}
    </>
  )
}

function Part({ title, children, more }: { title: string; children: ReactNode; more?: ReactNode }) {
  return (
    <section>
      <h2>{title}</h2>
      {children}
      {more}
    </section>
  )
}

function Requests({ title, rows }: { title: string; rows: readonly RequestRow[] }) {
  return (
    <Part title={title} more={rows.length > shown && <Link to="/change-requests">All {rows.length}</Link>}>
      <ul className="home-list">
        {rows.slice(0, shown).map((row) => (
          <li key={`${row.project} ${row.id}`}>
            <Link
              to="/projects/$projectId/change-requests/$requestId"
              params={{ projectId: row.project, requestId: String(row.id) }}
              className="plain-link strong break"
            >
              {titleOf(row)}
            </Link>
            <span className="soft small break">
              #{row.id} in {row.environment}, by {actorName(row.createdBy)}, <DateTime value={row.createdAt} />
            </span>
          </li>
        ))}
      </ul>
    </Part>
  )
}

// The flags that are on by release plans, in any environment.
function Plans() {
  const environments = useQuery({ ...apiQuery('/api/admin/environments'), staleTime: 60_000 }).data?.environments ?? []
  const status = environments.slice(0, 100).map(({ name }) => `${name}:plan`)
  const found = useQuery({
    ...apiQuery('/api/admin/search/features', { query: { status: status as never, sortBy: 'name', limit: String(shown) } }),
    enabled: status.length > 0,
    staleTime: 60_000,
  }).data?.features
  if (!found?.length) return null
  return (
    <Part title="Rolling out">
      <ul className="home-list">
        {found.flatMap(({ name, project, environments: all }) =>
          all
            .filter(({ enabled, planState }) => enabled && planState)
            .map((one) => (
              <li key={`${name} ${one.name}`}>
                <Link to="/projects/$projectId/flags/$flag" params={{ projectId: project, flag: name }} className="plain-link strong break">
                  {name}
                </Link>
                <span className="soft small break">
                  {one.milestoneName} in {one.name}, {planText(one, now())}
                </span>
              </li>
            )),
        )}
      </ul>
    </Part>
  )
}

function Changes() {
  const [from] = useState(today)
  const production = useQuery({ ...apiQuery('/api/admin/environments'), staleTime: 60_000 }).data?.environments.filter(isProduction)
  const names = production?.map(({ name }) => name).join(',') ?? ''
  const events = useQuery({
    ...apiQuery('/api/admin/search/events', { query: { environment: `IS_ANY_OF:${names}`, type: changes, from, limit: String(read) } }),
    enabled: names !== '',
    staleTime: 60_000,
  }).data?.events
  const segmentsUsed = /"segments":\[\d/.test(JSON.stringify(events ?? []))
  const segments = useQuery({ ...apiQuery('/api/admin/segments'), staleTime: 60_000, enabled: segmentsUsed }).data?.segments
  if (!events) return null
  const known = { ...plainNames, segment: (id: number) => segments?.find((one) => one.id === id)?.name ?? plainNames.segment(id) }
  const groups = new Map<string, typeof events>()
  for (const event of events) {
    const key = JSON.stringify([event.project, event.featureName, event.createdBy])
    groups.set(key, [...(groups.get(key) ?? []), event])
  }
  return (
    <Part
      title="Changed in production today"
      more={
        <Link to="/audit" search={{ environment: names, from } as never}>
          Audit log
        </Link>
      }
    >
      {events.length === 0 ? (
        <p className="soft">Nothing yet.</p>
      ) : (
        <ul className="home-list">
          {[...groups.values()].slice(0, shown).map(
            ([event, ...earlier]) =>
              event && (
                <li key={event.id}>
                  {event.featureName && event.project ? (
                    <Link
                      to="/projects/$projectId/flags/$flag"
                      params={{ projectId: event.project, flag: event.featureName }}
                      className="plain-link strong break"
                    >
                      {event.featureName}
                    </Link>
                  ) : (
                    <strong>
                      <ProjectName id={event.project ?? ''} />
                    </strong>
                  )}
                  <span className="soft small break">
                    {changeText(event, known).replace(` in ${event.environment}`, '')}
                    {earlier.length > 0 && ` and ${plural(earlier.length, 'change')} before`} · {actorOf(event)}, <DateTime value={event.createdAt} />
                  </span>
                </li>
              ),
          )}
        </ul>
      )}
    </Part>
  )
}

function Favorites() {
  const found = useQuery({
    ...apiQuery('/api/admin/search/features', { query: { favoritesFirst: 'true', sortBy: 'name', limit: '8' } }),
    staleTime: 60_000,
  }).data?.features
  const favorites = found?.filter(({ favorite }) => favorite) ?? []
  if (favorites.length === 0) return null
  return (
    <Part title="Favorites">
      <ul className="home-list">
        {favorites.map(({ name, project }) => (
          <li key={name}>
            <Link to="/projects/$projectId/flags/$flag" params={{ projectId: project, flag: name }} className="plain-link break">
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </Part>
  )
}
