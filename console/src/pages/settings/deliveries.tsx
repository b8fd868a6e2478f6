import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, apiQuery, useChange, type Schema } from '../../api'
import { useUrlState } from '../../shell'
import { Badge, Button, DateTime, EmptyState, ErrorState, Icons, Pagination, Section, Select, Table, plural, toast, type Column } from '../../ui'
import { EnvironmentName } from '../../ui/environmentname'
import { eventLabel } from './eventgroups'
import { pageOf } from './paged'

type Delivery = Schema<'Delivery'>

const size = 20
/** How often the list is read while events wait. */
const refreshMilliseconds = 3000

const states = [
  { value: '', label: 'All deliveries' },
  { value: 'waiting', label: 'Waiting' },
  { value: 'failed', label: 'Failed' },
  { value: 'success', label: 'Delivered' },
]

/** The latest deliveries of a webhook. While events wait the list stays current. */
export function Deliveries({ addon, disabledReason }: { addon: Schema<'Addon'>; disabledReason?: string }) {
  const [view, setView] = useUrlState({ state: '', offset: 0 })
  const path = { addonId: addon.id }
  const deliveries = useQuery({
    ...apiQuery('/api/admin/addons/{addonId}/events', { path, query: { limit: '100', state: view.state || undefined } }),
    enabled: !disabledReason,
    refetchInterval: (query) => (query.state.data?.integrationEvents.some((one) => one.state === 'waiting') ? refreshMilliseconds : false),
  })
  const resend = useChange({
    change: () => api.post('/api/admin/addons/{addonId}/resend', { path }),
    invalidates: ['/api/admin/addons/{addonId}/events'],
    onSuccess: ({ resent, more }) =>
      toast.success(resent === 0 ? 'No failed events.' : `${plural(resent, 'event')} will be sent again.${more ? ' More are left: resend again.' : ''}`),
  })
  const all = deliveries.data?.integrationEvents ?? []
  const shown = pageOf(all, view.offset, size)
  const resendReason = disabledReason ?? (addon.enabled ? undefined : 'The webhook is disabled and sends nothing.')
  return (
    <Section
      title="Deliveries"
      description="The last 7 days, at most 100 events."
      actions={
        <>
          <Select label="State" hideLabel choices={states} value={view.state} onChange={(state) => setView({ state, offset: 0 })} />
          <Button icon={<Icons.Refresh />} onClick={() => void deliveries.refetch()} pending={deliveries.isRefetching} disabledReason={disabledReason}>
            Refresh
          </Button>
          <Button onClick={() => resend.mutate()} pending={resend.isPending} disabledReason={resendReason}>
            Resend failed
          </Button>
        </>
      }
    >
      {disabledReason ? (
        <p className="soft">{disabledReason}</p>
      ) : deliveries.error ? (
        <ErrorState error={deliveries.error} onRetry={() => void deliveries.refetch()} />
      ) : (
        <>
          <Table
            cards
            label="Deliveries"
            columns={columns}
            rows={shown.rows}
            rowKey={(one) => one.id}
            loading={deliveries.isPending}
            empty={
              <EmptyState icon={<Icons.Hook />} title={view.state ? 'No matching deliveries' : 'Nothing sent yet'}>
                {view.state ? 'Choose another state to see more.' : 'Send a test event to check the URL and the secrets.'}
              </EmptyState>
            }
          />
          {all.length > size && (
            <Pagination noun="deliveries" offset={shown.offset} limit={size} total={all.length} onChange={(offset) => setView({ offset })} />
          )}
        </>
      )}
    </Section>
  )
}

const columns: Column<Delivery>[] = [
  { id: 'state', header: 'State', width: '110px', cell: (one) => <State state={one.state} /> },
  { id: 'event', header: 'Event', cell: (one) => <EventCell event={one.event} /> },
  { id: 'time', header: 'When', cell: (one) => <DateTime value={one.createdAt} /> },
  {
    id: 'response',
    header: 'Response',
    cell: (one) => (
      <div className="cell-text">
        <p className="break">{sentenceOf(one.stateDetails) || <span className="soft">None yet</span>}</p>
        {one.details.failedAttempts > 0 && (
          <p className="soft small">
            {plural(one.details.failedAttempts, 'failed attempt')}
            {one.details.nextAttemptAt && (
              <>
                , next <DateTime value={one.details.nextAttemptAt} />
              </>
            )}
          </p>
        )}
      </div>
    ),
  },
]

// 'the connection failed: connection refused' without what the state says already.
function sentenceOf(details: string) {
  const text = details.replace(/^the connection failed: /, '')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function State({ state }: { state: string }) {
  if (state === 'success') return <Badge kind="ok">Delivered</Badge>
  if (state === 'failed') return <Badge kind="danger">Failed</Badge>
  return <Badge>Waiting</Badge>
}

function EventCell({ event }: { event: Delivery['event'] }) {
  if (!event) return <span className="soft">No longer stored</span>
  return (
    <div className="cell-name">
      <p>{eventLabel(event.type)}</p>
      {event.featureName && event.project && (
        <p className="small break">
          <Link to="/projects/$projectId/flags/$flag" params={{ projectId: event.project, flag: event.featureName }}>
            {event.featureName}
          </Link>
          {event.environment && (
            <span className="soft">
              {' '}
              in <EnvironmentName name={event.environment} />
            </span>
          )}
        </p>
      )}
    </div>
  )
}
