import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { apiQuery, type Schema } from '../../api'
import { Facts, Info, Loaded, Meter, Section, Table, number, plural, type Column } from '../../ui'
import { CleanUp } from './cleanupsection'
import { nameColumn } from './flagcolumns'
import { healthKind } from './view'

const shownLeadTimes = 10

/** How many flags a project has, how that changes, which should be removed, and how fast flags reach production. */
export default function HealthTab() {
  const { projectId } = useParams({ from: '/projects/$projectId' })
  const insights = useQuery(apiQuery('/api/admin/projects/{projectId}/insights', { path: { projectId } }))
  return (
    <Loaded query={insights} lines={8}>
      {(data) => (
        <>
          <Figures insights={data} />
          <CleanUp projectId={projectId} />
          <LeadTimes projectId={projectId} features={data.leadTime.features} />
        </>
      )}
    </Loaded>
  )
}

function Figures({ insights }: { insights: Schema<'ProjectInsights'> }) {
  const { health, stats, leadTime } = insights
  const flags = health.activeCount + health.staleCount
  const trend = (now: number, before: number) => (
    <>
      <span className="strong number">{number(now)}</span> <span className="soft small">({number(before)} in the 30 days before)</span>
    </>
  )
  return (
    <Facts
      items={[
        [
          'Health',
          <span className="row" key="health">
            <Meter label="Health of the project" value={health.rating} kind={healthKind(health.rating)} />
            <span className="soft small">
              {number(health.staleCount)} of {plural(flags, 'flag')} stale
            </span>
          </span>,
        ],
        ['Created in 30 days', trend(stats.createdCurrentWindow, stats.createdPastWindow)],
        ['Archived in 30 days', trend(stats.archivedCurrentWindow, stats.archivedPastWindow)],
        [
          'Time to production',
          leadTime.features.length ? (
            <>
              <span className="strong number">{plural(leadTime.projectAverage, 'day')}</span>{' '}
              <span className="soft small">average of {plural(leadTime.features.length, 'live flag')}</span>
            </>
          ) : (
            <span className="soft">No flag is live yet</span>
          ),
        ],
      ]}
    />
  )
}

function LeadTimes({ projectId, features }: { projectId: string; features: Schema<'FeatureLeadTime'>[] }) {
  const slowest = features
    .filter(({ timeToProduction }) => timeToProduction > 0)
    .sort((a, b) => b.timeToProduction - a.timeToProduction)
    .slice(0, shownLeadTimes)
  const columns: Column<Schema<'FeatureLeadTime'>>[] = [
    nameColumn(projectId),
    { id: 'days', header: 'Days', align: 'right', cell: ({ timeToProduction }) => number(timeToProduction) },
  ]
  if (slowest.length === 0) return null
  return (
    <Section
      title={
        <span className="row">
          Slowest to production
          <Info>From the creation of a live flag to its first use in a production environment. A revived flag starts again.</Info>
        </span>
      }
    >
      <Table cards label="Slowest to production" columns={columns} rows={slowest} rowKey={({ name }) => name} />
    </Section>
  )
}
