import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, apiKey, apiQuery, useChange, useMe, type Schema } from '../../api'
import { Page } from '../../shell'
import { ActionMenu, Button, EmptyState, ErrorState, Icons, Switch, Table, type Column } from '../../ui'
import { eventLabel } from './eventgroups'
import { DeleteWebhook, addonBody, addonName, addonPaths } from './webhookactions'
import './settings.css'

type Addon = Schema<'Addon'>
type List = Schema<'AddonList'>

const key = apiKey('/api/admin/addons')

/** The webhooks: what sends events to other services. */
export default function WebhooksPage() {
  const me = useMe()
  const navigate = useNavigate()
  const addons = useQuery(apiQuery('/api/admin/addons'))
  const [deleted, setDeleted] = useState<Addon>()
  const updateReason = me.can('UPDATE_ADDON').reason
  const send = ({ addon, enabled }: { addon: Addon; enabled: boolean }) =>
    api.put('/api/admin/addons/{addonId}', { path: { addonId: addon.id }, body: { ...addonBody(addon), enabled } })
  const toggle = useChange({
    change: send,
    invalidates: addonPaths,
    success: (_, { addon, enabled }) => `${addonName(addon)} is ${enabled ? 'enabled' : 'disabled'}`,
    undo: ({ addon, enabled }) => send({ addon, enabled: !enabled }),
    optimistic: ({ addon, enabled }) => [
      { key, update: (list: List): List => ({ ...list, addons: list.addons.map((one) => (one.id === addon.id ? { ...one, enabled } : one)) }) },
    ],
  })
  const test = useChange({
    change: (addon: Addon) => api.post('/api/admin/addons/{addonId}/test', { path: { addonId: addon.id } }),
    invalidates: addonPaths,
    success: 'Test event sent. Its result appears in the list of deliveries.',
    onSuccess: (_, addon) => void navigate({ to: '/webhooks/$id', params: { id: String(addon.id) } }),
  })
  const columns: Column<Addon>[] = [
    {
      id: 'name',
      header: 'Webhook',
      cell: (addon) => (
        <div className="cell-name">
          <Link to="/webhooks/$id" params={{ id: String(addon.id) }} className="strong break">
            {addonName(addon)}
          </Link>
        </div>
      ),
    },
    { id: 'host', header: 'Sends to', cell: (addon) => <span className="break">{addon.host ?? <span className="soft">Not shown</span>}</span> },
    { id: 'provider', header: 'Kind', cell: (addon) => addons.data?.providers.find((one) => one.name === addon.provider)?.displayName ?? addon.provider },
    { id: 'events', header: 'Events', cell: (addon) => <div className="cell-text">{eventsText(addon.events)}</div> },
    { id: 'where', header: 'From', cell: (addon) => <div className="break cell-name">{fromOf(addon)}</div> },
    {
      id: 'enabled',
      header: 'Enabled',
      cell: (addon) => (
        <Switch
          label={`Enable ${addonName(addon)}`}
          checked={addon.enabled}
          disabledReason={updateReason}
          onChange={(enabled) => toggle.mutate({ addon, enabled })}
        />
      ),
    },
    {
      id: 'actions',
      header: 'Actions',
      hideHeader: true,
      align: 'right',
      width: '48px',
      cell: (addon) => (
        <ActionMenu
          label={`Actions for ${addonName(addon)}`}
          entries={[
            { label: 'Open', icon: <Icons.Edit />, link: { to: '/webhooks/$id', params: { id: String(addon.id) } } },
            {
              label: 'Send a test event',
              icon: <Icons.Play />,
              onSelect: () => test.mutate(addon),
              disabledReason: updateReason ?? (addon.enabled ? undefined : 'It is disabled and sends nothing.'),
            },
            { label: 'Delete', icon: <Icons.Trash />, danger: true, onSelect: () => setDeleted(addon), disabledReason: me.can('DELETE_ADDON').reason },
          ]}
        />
      ),
    },
  ]
  const create = (
    <Button
      variant="primary"
      icon={<Icons.Plus />}
      disabledReason={me.can('CREATE_ADDON').reason}
      onClick={() => void navigate({ to: '/webhooks/$id', params: { id: 'new' } })}
    >
      Create webhook
    </Button>
  )
  return (
    <Page title="Webhooks" description="Send changes to your own services or to Slack as they happen." actions={create}>
      {addons.error ? (
        <ErrorState error={addons.error} onRetry={() => void addons.refetch()} />
      ) : (
        <Table
          label="Webhooks"
          cards
          columns={columns}
          rows={addons.data?.addons ?? []}
          rowKey={(addon) => addon.id}
          loading={addons.isPending}
          empty={
            <EmptyState icon={<Icons.Hook />} title="No webhooks yet" action={create}>
              Choose which events are sent, for example each switch in production, and where to. Failed deliveries are retried, and you can see and resend them
              here.
            </EmptyState>
          }
        />
      )}
      {deleted && <DeleteWebhook addon={deleted} onClose={() => setDeleted(undefined)} />}
    </Page>
  )
}

// The first events in words, and how many more.
function eventsText(events: readonly string[]): string {
  const rest = events.length - 2
  const first = events.slice(0, 2).map(eventLabel).join(', ')
  return rest > 0 ? `${first} and ${rest} more` : first
}

function fromOf({ projects, environments }: Addon): string {
  const from = [projects.length ? projects.join(', ') : 'all projects', environments.length ? environments.join(', ') : 'all environments']
  return from.join(' in ')
}
