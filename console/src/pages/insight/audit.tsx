import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { accountName, apiQuery, useMe, type Schema } from '../../api'
import { Page, useUrlState } from '../../shell'
import { SavedViews } from '../../shell/savedviews'
import { Button, EmptyState, Icons, Loaded, SearchField, Section, TextField } from '../../ui'
import { Combobox, MultiCombobox } from '../../ui/combobox'
import { SuggestField } from '../../ui/suggest'
import { EventList } from './eventlist'
import { EventPages, eventPage } from './eventpages'
import { eventTitle, eventTypes, is } from './eventtext'
import { FlagField } from './flagfield'
import { useSettled } from './settled'

const noFilters = { type: '', project: '', environment: '', flag: '', by: '', from: '', to: '', q: '' }
const none = { ...noFilters, cursor: '' }
const typeChoices = eventTypes.map((type) => ({ value: type, label: eventTitle(type) })).sort((a, b) => a.label.localeCompare(b.label))

/** All changes, with filters. */
export default function AuditLogPage() {
  return (
    <Page title="Audit log" description="Who changed what, and when. Only administrators see the events of tokens, users and roles.">
      <EventSearch />
    </Page>
  )
}

/** Changes with filters: of one project, or of all. */
export function EventSearch({ project: only }: { project?: string }) {
  const [view, setView] = useUrlState(none)
  const { cursor, ...filters } = view
  const typed = useSettled(view)
  const events = useQuery({
    ...apiQuery('/api/admin/search/events', {
      query: {
        type: is(typed.type),
        project: is(only ?? typed.project),
        environment: is(typed.environment),
        feature: is(typed.flag),
        createdBy: is(typed.by),
        from: typed.from,
        to: typed.to,
        query: typed.q,
        limit: String(eventPage),
        cursor: typed.cursor,
      },
    }),
    placeholderData: keepPreviousData,
  })
  const projects = useQuery({ ...apiQuery('/api/admin/projects'), enabled: !only })
  const environments = useQuery(apiQuery('/api/admin/environments'))
  const people = usePeople(events.data?.events ?? [])
  const filtered = Object.entries(view).some(([name, value]) => name !== 'cursor' && value !== '')
  const filter = (change: Partial<typeof none>) => setView({ ...change, cursor: '' })
  return (
    <>
      <Section>
        <div className="stack-s">
          <SearchField label="Search the text of events" value={view.q} onChange={(q) => filter({ q })} maxLength={255} />
          <div className="audit-filters">
            <MultiCombobox
              label="Types"
              placeholder="All types"
              choices={typeChoices}
              value={view.type.split(',').filter(Boolean)}
              onChange={(types) => filter({ type: types.join(',') })}
            />
            {!only && (
              <Combobox
                label="Project"
                placeholder="All projects"
                choices={(projects.data?.projects ?? []).map(({ id, name }) => ({ value: id, label: name }))}
                value={view.project}
                onChange={(project) => filter({ project })}
              />
            )}
            <Combobox
              label="Environment"
              placeholder="All environments"
              choices={(environments.data?.environments ?? []).map(({ name }) => ({ value: name, label: name }))}
              value={view.environment}
              onChange={(environment) => filter({ environment })}
            />
            <FlagField project={only ?? view.project} value={view.flag} onChange={(flag) => filter({ flag })} />
            <SuggestField
              label="Person or token"
              placeholder="Name or email address"
              suggestions={people}
              value={view.by}
              onChange={(by) => filter({ by })}
              maxLength={255}
            />
            <TextField label="From" type="date" value={view.from} onChange={(from) => filter({ from })} />
            <TextField label="To" type="date" value={view.to} onChange={(to) => filter({ to })} />
            <div className="row">
              {/* The log of one project has no filter for the project, so views of both differ. */}
              <SavedViews list={only ? 'project-log' : 'audit'} state={filters} defaults={noFilters} onChange={filter} />
              {filtered && (
                <Button icon={<Icons.Close />} onClick={() => setView(none)}>
                  Clear filters
                </Button>
              )}
            </div>
          </div>
        </div>
      </Section>
      <Loaded query={events}>
        {(data) =>
          data.events.length === 0 && !data.next ? (
            <EmptyState icon={<Icons.Clock />} title={filtered ? 'No event matches' : 'No events'}>
              {filtered ? 'Change or clear the filters. Names must be complete.' : 'Each change appears here, with the state before and after it.'}
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
  return [...all].filter(([value]) => value !== '').map(([value, note]) => ({ value, note: note === value ? undefined : note }))
}
