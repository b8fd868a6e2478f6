import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { apiQuery } from '../../api'
import { useUrlState } from '../../shell'
import { EmptyState, Icons, Loaded, Section, Select } from '../../ui'
import { useEnvironmentChoices } from '../../ui/environmentname'
import { CommentForm } from '../flag/comments'
import { useLoadedFlag } from '../flag/data'
import { EventList } from './eventlist'
import { EventPages, eventPage } from './eventpages'
import { is } from './eventtext'

/** The changes of one flag, and what they changed from, which can be restored. */
export default function HistoryTab() {
  const { flag } = useParams({ from: '/projects/$projectId/flags/$flag' })
  const data = useLoadedFlag()
  const choices = useEnvironmentChoices(data.environments.map(({ name }) => name))
  const [{ cursor, environment }, setView] = useUrlState({ cursor: '', environment: '' })
  const history = useQuery({
    ...apiQuery('/api/admin/search/events', {
      query: { feature: is(flag), environment: is(environment), limit: String(eventPage), cursor },
    }),
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <div className="history-bar">
        <CommentForm flag={data} />
        <Select label="Environment" hideLabel choices={choices} value={environment} onChange={(next) => setView({ environment: next, cursor: '' })} />
      </div>
      <Loaded query={history}>
        {({ events, next, totalEvents }) =>
          events.length === 0 && !cursor && !next ? (
            <EmptyState icon={<Icons.Clock />} title={environment ? `No change in ${environment}` : 'No changes yet'}>
              Each change of the flag appears here, with the state before and after it.
            </EmptyState>
          ) : (
            <Section>
              <EventList events={events} label={`Changes of ${flag}`} />
              <EventPages cursor={cursor} next={next} total={totalEvents} onChange={(cursor) => setView({ cursor }, { push: true })} />
            </Section>
          )
        }
      </Loaded>
    </>
  )
}
