import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { accountName, api, apiQuery, useMe, type Schema } from '../../api'
import { Page, useUrlState } from '../../shell'
import { Button, EmptyState, Icons, Loaded, Popover, Section, TextField, environmentChoice, isProduction, type Choice } from '../../ui'
import { FilterBar } from '../../ui/filters'
import { EventList } from './eventlist'
import { EventPages, eventPage } from './eventpages'
import { eventTitle, eventTypes, is } from './eventtext'

const none = { type: '', project: '', environment: '', flag: '', by: '', since: '', from: '', to: '', q: '', cursor: '' }
const types = eventTypes.map((type) => ({ value: type, label: eventTitle(type) })).sort((a, b) => a.label.localeCompare(b.label))

const presets = [
  { value: '15', label: '15 min' },
  { value: '60', label: 'Hour' },
  { value: '1440', label: 'Day' },
]

/** All changes, with filters. */
export default function AuditLogPage() {
  return (
    <Page title="Audit log">
      <EventSearch />
    </Page>
  )
}

/** Changes with filters: of one project, or of all. */
export function EventSearch({ project: only }: { project?: string }) {
  const [view, setView] = useUrlState(none)
  const { cursor, since } = view
  const events = useQuery({
    queryKey: ['/api/admin/search/events', { ...view, only }],
    queryFn: ({ signal }) =>
      api.get('/api/admin/search/events', {
        query: {
          type: is(view.type),
          project: is(only ?? view.project),
          environment: is(view.environment),
          feature: is(view.flag),
          createdBy: is(view.by),
          from: since ? new Date(Date.now() - Number(since) * 60_000).toISOString() : view.from,
          to: view.to,
          query: view.q,
          limit: String(eventPage),
          cursor,
        },
        signal,
      }),
    placeholderData: keepPreviousData,
  })
  const projects = useQuery({ ...apiQuery('/api/admin/projects'), enabled: !only })
  const environments = useQuery(apiQuery('/api/admin/environments')).data?.environments ?? []
  const people = usePeople(events.data?.events ?? [])
  const filtered = Object.entries(view).some(([name, value]) => name !== 'cursor' && value !== '')
  const filter = (change: Partial<typeof none>) => setView({ ...change, cursor: '' })
  const production = environments
    .filter(isProduction)
    .map(({ name }) => name)
    .join(',')
  const onlyProduction = production !== '' && view.environment === production
  const dated = view.from !== '' || view.to !== ''
  return (
    <>
      <FilterBar
        noun="event"
        search="Search the text of events"
        // The button Production only says it already.
        values={onlyProduction ? { ...view, environment: '' } : view}
        onChange={filter}
        filters={[
          { name: 'environment', label: 'Environment', choices: environments.map(environmentChoice) },
          ...(only
            ? []
            : [{ name: 'project' as const, label: 'Project', choices: (projects.data?.projects ?? []).map(({ id, name }) => ({ value: id, label: name })) }]),
          { name: 'type', label: 'Type', choices: types },
          { name: 'flag', label: 'Flag' },
          { name: 'by', label: 'Person or token', choices: withTyped(people, view.by), free: true },
        ]}
      >
        <span className="audit-presets">
          {presets.map(({ value, label }) => (
            <Button
              key={value}
              size="small"
              aria-label={`Last ${label.toLowerCase()}`}
              aria-pressed={since === value}
              onClick={() => filter({ since: since === value ? '' : value, from: '', to: '' })}
            >
              {label}
            </Button>
          ))}
          <Popover
            label="Dates"
            trigger={
              <Button size="small" aria-pressed={dated}>
                {dated ? `${view.from || '…'} – ${view.to || '…'}` : 'Dates'}
              </Button>
            }
          >
            <div className="stack-s">
              <TextField label="From" type="date" value={view.from} onChange={(from) => filter({ from, since: '' })} />
              <TextField label="To" type="date" value={view.to} onChange={(to) => filter({ to, since: '' })} />
              {(dated || since) && <Button onClick={() => filter({ from: '', to: '', since: '' })}>Any time</Button>}
            </div>
          </Popover>
          {production && (
            <Button size="small" aria-pressed={onlyProduction} onClick={() => filter({ environment: onlyProduction ? '' : production })}>
              Production only
            </Button>
          )}
        </span>
      </FilterBar>
      <Loaded query={events}>
        {(data) =>
          data.events.length === 0 && !data.next ? (
            <EmptyState icon={<Icons.Clock />} title={filtered ? 'No event matches' : 'No events'}>
              {filtered ? 'Change or clear the filters.' : 'Each change appears here, with the state before and after it.'}
            </EmptyState>
          ) : (
            <Section>
              {data.events.length === 0 && <p className="soft">No event on this page matches. Older ones may.</p>}
              <EventList events={data.events} withFlag={!only ? 'project' : 'flag'} label="Events" />
              <EventPages cursor={cursor} next={data.next} total={data.totalEvents} onChange={(cursor) => setView({ cursor }, { push: true })} />
            </Section>
          )
        }
      </Loaded>
    </>
  )
}

// Who can be filtered by: all users, for those who can read them, and otherwise the people of the events on the page.
function usePeople(events: readonly Schema<'LoggedEvent'>[]) {
  const { isAdmin } = useMe()
  const users = useQuery({ ...apiQuery('/api/admin/user-admin'), enabled: isAdmin, staleTime: 60_000 })
  const all = new Map<string, string>()
  for (const event of events) all.set(event.createdByName || event.createdBy, event.createdBy)
  for (const user of users.data?.users ?? []) all.set(accountName(user), user.username || user.email || '')
  return [...all].filter(([value]) => value !== '').map(([value, note]) => ({ value, label: value, note: note === value ? undefined : note }))
}

// A filter of the URL can have a name that is not among the choices.
const withTyped = (choices: readonly Choice[], value: string) =>
  value === '' || choices.some((choice) => choice.value === value) ? choices : [{ value, label: value }, ...choices]
