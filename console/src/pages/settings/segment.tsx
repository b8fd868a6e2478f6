import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { apiQuery, versionedQuery } from '../../api'
import { Page, type Crumb } from '../../shell'
import { ErrorState, Loaded, Loading, Section } from '../../ui'
import { SegmentForm } from './segmentform'
import { StrategyUsage, usageLimit } from './usage'

const crumbs: Crumb[] = [{ label: 'Segments', link: { to: '/segments' } }]

/** A segment with its constraints and the strategies that use it; with the id 'new' a form for a new one. */
export default function SegmentPage() {
  const { id } = useParams({ from: '/segments/$id' })
  if (id === 'new') {
    return (
      <Page title="Create segment" crumbs={crumbs}>
        <SegmentForm />
      </Page>
    )
  }
  return <ExistingSegment key={id} id={id} />
}

function ExistingSegment({ id }: { id: string }) {
  const path = { id: Number(id) }
  const segment = useQuery(versionedQuery('/api/admin/segments/{id}', { path }))
  const usage = useQuery(apiQuery('/api/admin/segments/{id}/strategies', { path, query: { limit: String(usageLimit) } }))
  const name = segment.data?.body.name
  return (
    <Page title={name ?? 'Segment'} crumbs={crumbs}>
      {segment.data ? (
        <div className="stack">
          <SegmentForm loaded={segment.data} />
          <Section title="Used by" description="Strategies of active flags, and default strategies of projects.">
            <Loaded query={usage} lines={2}>
              {(using) => <StrategyUsage label={`Strategies that use ${name}`} strategies={using.strategies} defaults={using.defaultStrategies} />}
            </Loaded>
          </Section>
        </div>
      ) : segment.error ? (
        <ErrorState error={segment.error} onRetry={() => void segment.refetch()} />
      ) : (
        <Loading />
      )}
    </Page>
  )
}
