import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { apiQuery } from '../../api'
import { useUrlState } from '../../shell'
import { Button, EmptyState, Icons, Loaded, Section } from '../../ui'
import { useLoadedFlag } from '../flag/data'
import { restorableOf, type Restorable } from '../flag/restore/versions'
import { EventList } from './eventlist'
import { EventPages, eventPage } from './eventpages'

const RestoreDialog = lazy(() => import('../flag/restore/dialog'))

/** The changes of one flag, and what they changed from, which can be restored. */
export default function HistoryTab() {
  const { flag } = useParams({ from: '/projects/$projectId/flags/$flag' })
  const data = useLoadedFlag()
  const [restoring, setRestoring] = useState<Restorable[]>()
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
            <EventList
              events={events}
              label={`Changes of ${flag}`}
              actions={(event) => {
                const restorable = restorableOf(event)
                return (
                  restorable.length > 0 && (
                    <Button size="small" variant="quiet" onClick={() => setRestoring(restorable)}>
                      Restore…
                    </Button>
                  )
                )
              }}
            />
            {restoring && (
              <Suspense fallback={null}>
                <RestoreDialog flag={data} restorable={restoring} onClose={() => setRestoring(undefined)} />
              </Suspense>
            )}
            <EventPages cursor={view.cursor} next={next} total={totalEvents} onChange={(cursor) => setView({ cursor }, { push: true })} />
          </Section>
        )
      }
    </Loaded>
  )
}
