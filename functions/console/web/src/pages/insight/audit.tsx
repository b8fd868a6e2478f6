import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { apiQuery } from '../../api'
import { Page, useUrlState } from '../../shell'
import { Button, EmptyState, Icons, Loaded, SearchField, Section, TextField } from '../../ui'
import { Combobox } from '../../ui/combobox'
import { EventList } from './eventlist'
import { EventPages, eventPage } from './eventpages'
import { eventTitle, eventTypes, is } from './eventtext'
import { FlagField } from './flagfield'
import { useSettled } from './settled'

const none = { type: '', project: '', flag: '', by: '', from: '', to: '', q: '', cursor: '' }
const typeChoices = eventTypes.map((type) => ({ value: type, label: eventTitle(type) })).sort((a, b) => a.label.localeCompare(b.label))

/** All changes, with filters. */
export default function AuditLogPage() {
  const [view, setView] = useUrlState(none)
  const typed = useSettled(view)
  const events = useQuery({
    ...apiQuery('/api/admin/search/events', {
      query: {
        type: is(typed.type),
        project: is(typed.project),
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
  const projects = useQuery(apiQuery('/api/admin/projects'))
  const filtered = Object.entries(view).some(([name, value]) => name !== 'cursor' && value !== '')
  const filter = (change: Partial<typeof none>) => setView({ ...change, cursor: '' })
  return (
    <Page title="Audit log" description="Who changed what, and when. Only administrators see the events of tokens, users and roles.">
      <Section>
        <div className="stack-s">
          <SearchField label="Search the text of events" value={view.q} onChange={(q) => filter({ q })} maxLength={255} />
          <div className="audit-filters">
            <Combobox label="Type" placeholder="All types" choices={typeChoices} value={view.type} onChange={(type) => filter({ type })} />
            <Combobox
              label="Project"
              placeholder="All projects"
              choices={(projects.data?.projects ?? []).map(({ id, name }) => ({ value: id, label: name }))}
              value={view.project}
              onChange={(project) => filter({ project })}
            />
            <FlagField project={view.project} value={view.flag} onChange={(flag) => filter({ flag })} />
            <TextField label="Person or token" placeholder="Name" value={view.by} onChange={(by) => filter({ by })} maxLength={255} />
            <TextField label="From" type="date" value={view.from} onChange={(from) => filter({ from })} />
            <TextField label="To" type="date" value={view.to} onChange={(to) => filter({ to })} />
            {filtered && (
              <div>
                <Button icon={<Icons.Close />} onClick={() => setView(none)}>
                  Clear filters
                </Button>
              </div>
            )}
          </div>
        </div>
      </Section>
      <Loaded query={events}>
        {(data) =>
          data.events.length === 0 && !data.next ? (
            <EmptyState icon={<Icons.Clock />} title={filtered ? 'No event matches' : 'No events'}>
              {filtered ? 'Change or clear the filters. Names must match exactly.' : 'Each change appears here, with the state before and after it.'}
            </EmptyState>
          ) : (
            <Section>
              {data.events.length === 0 && <p className="soft">No event on this page matches. Older ones may.</p>}
              <EventList events={data.events} withFlag label="Events" />
              <EventPages cursor={view.cursor} next={data.next} total={data.totalEvents} onChange={(cursor) => setView({ cursor }, { push: true })} />
            </Section>
          )
        }
      </Loaded>
    </Page>
  )
}
