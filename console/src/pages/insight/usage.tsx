import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Fragment, useMemo } from 'react'
import { apiQuery, type Schema } from '../../api'
import { useUrlState } from '../../shell'
import {
  Button,
  DateTime,
  EmptyState,
  Icons,
  LinkButton,
  Loaded,
  Loading,
  Meter,
  Section,
  Select,
  Table,
  number,
  percent,
  useDates,
  type Column,
} from '../../ui'
import { EnvironmentMark, EnvironmentName, useEnvironmentChoices } from '../../ui/environmentname'
import type { DateSettings } from '../../ui/dates'
import { UsageChart, timeText, type Mark } from './chart'
import { useSegments } from '../flag/strategy/list'
import { changeText, plainNames } from './eventtext'
import './usage.css'
import { byApplication, byVariant, filterRows, pointsOf, shareOf, totalOf, type UsageOfApp, type UsagePoint } from './usagedata'

// Counts are kept by the hour, so a shorter time would be a single bar.
const ranges = [
  { value: '6', label: 'Last 6 hours' },
  { value: '24', label: 'Last 24 hours' },
  { value: '48', label: 'Last 48 hours' },
  { value: '168', label: 'Last 7 days' },
  { value: '720', label: 'Last 30 days' },
  { value: '2160', label: 'Last 90 days' },
]

const hour = 3_600_000

/** How often applications evaluated a flag: a chart with a table, and the applications. */
export default function UsageTab() {
  const { flag } = useParams({ from: '/projects/$projectId/flags/$flag' })
  const [view, setView] = useUrlState({ hours: '24', environment: '', app: '', table: false })
  const hours = ranges.some((range) => range.value === view.hours) ? view.hours : '24'
  const usage = useQuery({
    ...apiQuery('/api/admin/client-metrics/features/{featureName}/raw', { path: { featureName: flag }, query: { hoursBack: hours } }),
    refetchInterval: 30_000,
  })
  return (
    <div className="stack">
      <Loaded query={usage}>
        {({ data }) => (
          <>
            <div className="row usage-filters">
              <Select label="Time" hideLabel value={hours} choices={ranges} onChange={(value) => setView({ hours: value })} />
              <EnvironmentFilter
                names={[...data.map((row) => row.environment), view.environment]}
                value={view.environment}
                onChange={(environment) => setView({ environment })}
              />
              <Select
                label="Application"
                hideLabel
                value={view.app}
                choices={[
                  { value: '', label: 'All applications' },
                  ...sorted([...data.map((row) => row.appName), view.app]).map((name) => ({ value: name, label: name })),
                ]}
                onChange={(app) => setView({ app })}
              />
            </div>
            <Usage
              rows={filterRows(data, view.environment, view.app)}
              hours={Number(hours)}
              table={view.table}
              onTable={(table) => setView({ table })}
              filtered={Boolean(view.environment || view.app)}
            />
          </>
        )}
      </Loaded>
    </div>
  )
}

const sorted = (names: readonly string[]) => [...new Set(names)].filter(Boolean).sort()

function EnvironmentFilter({ names, ...value }: { names: readonly string[]; value: string; onChange: (name: string) => void }) {
  return <Select label="Environment" hideLabel choices={useEnvironmentChoices(sorted(names))} {...value} />
}

interface UsageProps {
  rows: readonly Schema<'UsageRow'>[]
  hours: number
  table: boolean
  onTable: (table: boolean) => void
  filtered: boolean
}

function Usage({ rows, hours, table, onTable, filtered }: UsageProps) {
  const dates = useDates()
  const { projectId, flag } = useParams({ from: '/projects/$projectId/flags/$flag' })
  const step = hours > 48 ? 24 * hour : hour
  const points = useMemo(() => {
    const all = pointsOf(rows, step)
    // The chart begins a little before the first report, so that a new flag has no empty day before its first bar.
    const first = all.findIndex(({ yes, no }) => yes + no > 0)
    return all.slice(Math.max(0, Math.min(first - 1, all.length - fewest)))
  }, [rows, step])
  const apps = useMemo(() => byApplication(rows), [rows])
  const history = useQuery(apiQuery('/api/admin/events/{featureName}', { path: { featureName: flag }, query: { type: markTypes, limit: '100' } }))
  const events = history.data?.events
  const segments = useSegments()
  const marks = useMemo(() => {
    const names = { ...plainNames, segment: (id: number) => segments.find((one) => one.id === id)?.name ?? plainNames.segment(id) }
    return (events ?? []).map((event) => ({ time: Date.parse(event.createdAt), text: changeText(event, names), environment: event.environment }))
  }, [events, segments])
  const variants = useMemo(() => byVariant(apps), [apps])
  const variantTotal = variants.reduce((sum, { count }) => sum + count, 0)
  const total = totalOf(points)
  const reported = points.filter((point) => point.yes + point.no > 0)
  // A chart of one bar shows nothing.
  const single = reported.length === 1
  const share = shareOf(total)
  if (history.isLoading) return <Loading /> // The list of changes makes the card of the chart higher.
  if (share === null) {
    return (
      <EmptyState
        icon={<Icons.Chart />}
        title={filtered ? 'No usage with these filters' : 'No usage in this time'}
        action={
          <LinkButton to="/connect" search={{ project: projectId, flag } as never} variant="primary" icon={<Icons.Plug />}>
            Connect an application
          </LinkButton>
        }
      >
        SDKs report how often they evaluated a flag, every minute or at the interval that you set. A report shows within two minutes.
      </EmptyState>
    )
  }
  return (
    <>
      <p className="usage-total">
        <span className="strong number">{number(total.yes + total.no)}</span> evaluations, <span className="strong number">{percent(share)}</span> on
      </p>
      <Section
        title={step > hour ? 'Evaluations by day (UTC)' : 'Evaluations by hour'}
        actions={
          !single && (
            <Button size="small" aria-pressed={table} onClick={() => onTable(!table)}>
              {table ? 'Show as chart' : 'Show as table'}
            </Button>
          )
        }
      >
        {table || single ? (
          <Table label="Evaluations by time" columns={pointColumns(step, dates)} rows={reported.reverse()} rowKey={(point) => point.time} />
        ) : (
          <UsageChart
            points={points}
            marks={marks}
            step={step}
            label={`Evaluations of ${flag}: ${number(total.yes)} on, ${number(total.no)} off. The table has the figures.`}
          />
        )}
        <Changes marks={marks.filter((mark) => mark.time >= points[0]!.time)} />
      </Section>
      {variants.length > 0 && (
        <Section title="Variants">
          <div className="usage-variants">
            {variants.map(({ name, count }) => (
              <Fragment key={name}>
                <span className="break">{name}</span>
                <Meter label={`Share of ${name}`} value={(100 * count) / variantTotal} />
                <span className="number soft">{number(count)}</span>
              </Fragment>
            ))}
          </div>
        </Section>
      )}
      <Section title="Applications">
        <Table
          cards
          label="Applications that evaluated the flag"
          columns={appColumns}
          rows={apps.slice(0, maxApps)}
          rowKey={(app) => `${app.appName} ${app.environment}`}
        />
        {apps.length > maxApps && <p className="soft small">The {number(maxApps)} with the most evaluations are shown.</p>}
      </Section>
    </>
  )
}

// The changes that the lines in the chart stand for, the newest first.
function Changes({ marks }: { marks: readonly Mark[] }) {
  if (marks.length === 0) return null
  return (
    <ul className="stack-s" aria-label="Changes in this time">
      {marks.slice(0, maxMarks).map((mark, index) => (
        <li key={index} className="break">
          {mark.text} {mark.environment && <EnvironmentMark name={mark.environment} />}{' '}
          <span className="soft small">
            <DateTime value={mark.time} />
          </span>
        </li>
      ))}
      {marks.length > maxMarks && <li className="soft">and {number(marks.length - maxMarks)} more in the history</li>}
    </ul>
  )
}

const maxMarks = 10
/** How many hours or days the chart shows at least. */
const fewest = 6
const maxApps = 100
const markTypes = 'IS_ANY_OF:feature-environment-enabled,feature-environment-disabled,feature-strategy-add,feature-strategy-update,feature-strategy-remove'

function pointColumns(step: number, dates: DateSettings): Column<UsagePoint>[] {
  return [
    { id: 'time', header: step > hour ? 'Day' : 'Hour', cell: (point) => <span className="nowrap">{timeText(point.time, step, dates)}</span> },
    ...countColumns<UsagePoint>(),
  ]
}

const appColumns: Column<UsageOfApp>[] = [
  {
    id: 'app',
    header: 'Application',
    cell: (app) => (
      <Link to="/applications/$app" params={{ app: app.appName }} className="strong break">
        {app.appName}
      </Link>
    ),
  },
  { id: 'environment', header: 'Environment', cell: (app) => <EnvironmentName name={app.environment} /> },
  ...countColumns<UsageOfApp>(),
]

function countColumns<Row extends { yes: number; no: number }>(): Column<Row>[] {
  return [
    { id: 'yes', header: 'On', align: 'right', cell: (row) => <span className="number">{number(row.yes)}</span> },
    { id: 'no', header: 'Off', align: 'right', cell: (row) => <span className="number">{number(row.no)}</span> },
    { id: 'share', header: 'Share on', cell: (row) => <Meter label="Share on" value={shareOf(row) ?? 0} /> },
  ]
}
