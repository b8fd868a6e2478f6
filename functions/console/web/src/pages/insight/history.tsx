import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { apiQuery } from '../../api'
import { useUrlState } from '../../shell'
import { EmptyState, Icons, Loaded, Section } from '../../ui'
import { EventList } from './eventlist'
import { EventPages, eventPage } from './eventpages'

/** The changes of one flag. */
export default function HistoryTab() {
  const { flag } = useParams({ from: '/projects/$projectId/flags/$flag' })
  const [view, setView] = useUrlState({ cursor: '' })
  const history = useQuery(
    apiQuery('/api/admin/events/{featureName}', { path: { featureName: flag }, query: { limit: String(eventPage), cursor: view.cursor } }),
  )
  return (
    <Loaded query={history}>
      {({ events, next, totalEvents }) =>
        events.length === 0 && !view.cursor ? (
          <EmptyState icon={<Icons.Clock />} title="No changes yet">
            Each change of the flag appears here, with the state before and after it.
          </EmptyState>
        ) : (
          <Section>
            <EventList events={events} label={`Changes of ${flag}`} />
            <EventPages cursor={view.cursor} next={next} total={totalEvents} onChange={(cursor) => setView({ cursor }, { push: true })} />
          </Section>
        )
      }
    </Loaded>
  )
}
