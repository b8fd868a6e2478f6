import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { actorOf, apiQuery, type Schema } from '../../api'
import { DateTime, EmptyState, Figure, Icons, LinkButton, Loaded, Loading, Meter, Section, Table, number, plural, words, type Column } from '../../ui'
import { EnvironmentName } from '../../ui/environmentname'
import { eventTitle } from '../insight/eventtext'
import { CleanUp } from './cleanupsection'
import { nameColumn } from './flagcolumns'
import { StaleFlags } from './stale'
import { comparedWithBefore, healthKind } from './view'

const shownEvents = 8
const shownLeadTimes = 10

/** The figures of a project: how many flags it has, how many should be removed, and how fast flags reach production. */
export default function HealthTab() {
  const { projectId } = useParams({ from: '/projects/$projectId' })
  const insights = useQuery(apiQuery('/api/admin/projects/{projectId}/insights', { path: { projectId } }))
  return (
    <Loaded query={insights} lines={8}>
      {(data) => (
        <>
          <Figures insights={data} />
          <CleanUp projectId={projectId} />
          <StaleFlags projectId={projectId} />
          <div className="columns">
            <Types counts={data.featureTypeCounts} />
            <LeadTimes projectId={projectId} features={data.leadTime.features} />
          </div>
          <LatestChanges projectId={projectId} />
        </>
      )}
    </Loaded>
  )
}

function Figures({ insights }: { insights: Schema<'ProjectInsights'> }) {
  const { health, stats, leadTime, members } = insights
  const flags = health.activeCount + health.staleCount
  return (
    <div className="project-figures">
      <Figure
        label="Health"
        value={<Meter label="Health of the project" value={health.rating} kind={healthKind(health.rating)} />}
        hint={flags === 0 ? 'The share of flags that are not stale' : `Not stale: ${number(health.activeCount)} of ${plural(flags, 'flag')}`}
      />
      <Figure label="Stale flags" value={number(health.staleCount)} hint="They have served their purpose" />
      <Figure
        label="Created in 30 days"
        value={number(stats.createdCurrentWindow)}
        hint={comparedWithBefore(stats.createdCurrentWindow, stats.createdPastWindow)}
      />
      <Figure
        label="Archived in 30 days"
        value={number(stats.archivedCurrentWindow)}
        hint={comparedWithBefore(stats.archivedCurrentWindow, stats.archivedPastWindow)}
      />
      <Figure
        label="Time to production"
        value={leadTime.features.length ? plural(leadTime.projectAverage, 'day') : '–'}
        hint={leadTime.features.length ? `Average of ${plural(leadTime.features.length, 'live flag')}` : 'No flag is live'}
      />
      <Figure label="Members" value={number(members.currentMembers)} hint="People with a role here" />
    </div>
  )
}

function Types({ counts }: { counts: Schema<'FeatureTypeCount'>[] }) {
  const most = Math.max(1, ...counts.map(({ count }) => count))
  const sorted = [...counts].sort((a, b) => b.count - a.count)
  return (
    <Section title="Flags by type">
      {sorted.length === 0 ? (
        <p className="soft">The project has no flags.</p>
      ) : (
        <dl className="project-bars">
          {sorted.map(({ type, count }) => (
            <div key={type}>
              <dt>{words(type)}</dt>
              <dd>
                <span className="project-bar" style={{ width: `${(100 * count) / most}%` }} />
                <span className="number">{number(count)}</span>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </Section>
  )
}

function LeadTimes({ projectId, features }: { projectId: string; features: Schema<'FeatureLeadTime'>[] }) {
  const slowest = [...features].sort((a, b) => b.timeToProduction - a.timeToProduction).slice(0, shownLeadTimes)
  const columns: Column<Schema<'FeatureLeadTime'>>[] = [
    nameColumn(projectId),
    { id: 'days', header: 'Days', align: 'right', cell: ({ timeToProduction }) => number(timeToProduction) },
  ]
  return (
    <Section
      title="Time to production"
      description="From the creation of a live flag to its first use in a production environment. A revived flag starts again."
    >
      {slowest.length === 0 ? (
        <p className="soft">No flag is live: none was used in production since it was created or revived.</p>
      ) : (
        <>
          <Table label="Time to production" columns={columns} rows={slowest} rowKey={({ name }) => name} />
          {features.length > slowest.length && (
            <p className="soft small">
              The slowest {number(slowest.length)} of {number(features.length)} live flags.
            </p>
          )}
        </>
      )}
    </Section>
  )
}

function LatestChanges({ projectId }: { projectId: string }) {
  const events = useQuery(apiQuery('/api/admin/search/events', { query: { project: projectId, limit: String(shownEvents) } }))
  return (
    <Section
      title="Latest changes"
      actions={
        <LinkButton size="small" to="/projects/$projectId/log" params={{ projectId }}>
          All changes
        </LinkButton>
      }
    >
      {events.isPending ? (
        <Loading lines={3} />
      ) : (
        <Loaded query={events}>
          {({ events: list }) =>
            list.length === 0 ? (
              <EmptyState icon={<Icons.Clock />} title="No recent changes">
                Changes of the project and its flags appear here.
              </EmptyState>
            ) : (
              <ul className="project-events">
                {list.map((event) => (
                  <li key={event.id}>
                    <span className="grow break">
                      <span className="strong">{eventTitle(event.type)}</span>
                      {event.featureName && (
                        <>
                          {' '}
                          <Link to="/projects/$projectId/flags/$flag" params={{ projectId, flag: event.featureName }}>
                            {event.featureName}
                          </Link>
                        </>
                      )}
                      {event.environment && (
                        <span className="soft">
                          {' '}
                          in <EnvironmentName name={event.environment} />
                        </span>
                      )}
                    </span>
                    <span className="soft">
                      {actorOf(event)}, <DateTime value={event.createdAt} />
                    </span>
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      )}
    </Section>
  )
}
