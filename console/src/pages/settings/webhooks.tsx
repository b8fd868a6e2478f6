import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { api, apiKey, apiQuery, useChange, useMe, type Schema } from '../../api'
import { Page } from '../../shell'
import { Icons, Switch } from '../../ui'
import { eventLabel } from './eventgroups'
import { Create, List, deleteEntry, editEntry } from './list'
import './settings.css'
import { addonBody, addonName, addonPaths, useDeleteWebhook, useTestWebhook } from './webhookactions'

type Addon = Schema<'Addon'>
type AddonList = Schema<'AddonList'>

const key = apiKey('/api/admin/addons')

/** The webhooks: what sends events to other services. */
export default function WebhooksPage() {
  const me = useMe()
  const navigate = useNavigate()
  const addons = useQuery(apiQuery('/api/admin/addons'))
  const updateReason = me.can('UPDATE_ADDON').reason
  const open = (id: number | 'new') => void navigate({ to: '/webhooks/$id', params: { id: String(id) } })
  const send = ({ addon, enabled }: { addon: Addon; enabled: boolean }) =>
    api.put('/api/admin/addons/{addonId}', { path: { addonId: addon.id }, body: { ...addonBody(addon), enabled } })
  const toggle = useChange({
    change: send,
    invalidates: addonPaths,
    success: (_, { addon, enabled }) => `${addonName(addon)} is ${enabled ? 'enabled' : 'disabled'}`,
    undo: ({ addon, enabled }) => send({ addon, enabled: !enabled }),
    optimistic: ({ addon, enabled }) => [
      { key, update: (list: AddonList): AddonList => ({ ...list, addons: list.addons.map((one) => (one.id === addon.id ? { ...one, enabled } : one)) }) },
    ],
  })
  const test = useTestWebhook('Test event sent. Its result appears in the list of deliveries.', ({ id }) => open(id))
  const [remove, question] = useDeleteWebhook()
  const create = (
    <Create reason={me.can('CREATE_ADDON').reason} onClick={() => open('new')}>
      Create webhook
    </Create>
  )
  return (
    <Page title="Webhooks" description="Send changes to your own services or to Slack as they happen." actions={create}>
      <List
        noun="webhook"
        query={addons}
        rows={addons.data?.addons}
        rowKey={(addon) => addon.id}
        nameOf={addonName}
        columns={[
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
          {
            id: 'provider',
            header: 'Kind',
            cell: (addon) => addons.data?.providers.find((one) => one.name === addon.provider)?.displayName ?? addon.provider,
          },
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
        ]}
        actions={(addon) => [
          editEntry(() => open(addon.id)),
          {
            label: 'Send a test event',
            icon: <Icons.Play />,
            onSelect: () => test.mutate(addon),
            disabledReason: updateReason ?? (addon.enabled ? undefined : 'It is disabled and sends nothing.'),
          },
          deleteEntry(() => remove(addon), me.can('DELETE_ADDON').reason),
        ]}
        icon={<Icons.Hook />}
        empty="Choose which events are sent, for example each switch in production, and where to. Failed deliveries are retried, and you can see and resend them here."
      />
      {question}
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
