import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { apiQuery, useMe } from '../../api'
import { Page, type Crumb } from '../../shell'
import { Badge, Button, ErrorState, Icons, Loaded } from '../../ui'
import { Deliveries } from './deliveries'
import './settings.css'
import { addonName, useDeleteWebhook, useTestWebhook } from './webhookactions'
import { WebhookForm } from './webhookform'

const crumbs: Crumb[] = [{ label: 'Webhooks', link: { to: '/webhooks' } }]

/** A webhook with its deliveries; with the id 'new' a form for a new one. */
export default function WebhookPage() {
  const { id } = useParams({ from: '/webhooks/$id' })
  const me = useMe()
  const navigate = useNavigate()
  const addons = useQuery(apiQuery('/api/admin/addons'))
  const [remove, question] = useDeleteWebhook(() => void navigate({ to: '/webhooks' }))
  const test = useTestWebhook('Test event sent. Its result appears below.')
  const addon = addons.data?.addons.find((one) => String(one.id) === id)
  if (!addons.data || !addon) {
    return (
      <Page title={id === 'new' ? 'Create webhook' : 'Webhook'} crumbs={crumbs}>
        <Loaded query={addons}>
          {({ providers }) =>
            id === 'new' ? (
              <WebhookForm providers={providers} />
            ) : (
              <ErrorState title="Not found" error={`There is no webhook with the id ${id}. It may have been deleted.`} />
            )
          }
        </Loaded>
      </Page>
    )
  }
  const updateReason = me.can('UPDATE_ADDON').reason
  return (
    <Page
      title={addonName(addon)}
      crumbs={crumbs}
      aside={addon.enabled ? <Badge kind="ok">Enabled</Badge> : <Badge>Disabled</Badge>}
      actions={
        <>
          <Button
            icon={<Icons.Play />}
            pending={test.isPending}
            disabledReason={updateReason ?? (addon.enabled ? undefined : 'It is disabled and sends nothing.')}
            onClick={() => test.mutate(addon)}
          >
            {test.isPending ? 'Testing…' : 'Send a test event'}
          </Button>
          <Button variant="quiet" icon={<Icons.Trash />} disabledReason={me.can('DELETE_ADDON').reason} onClick={() => remove(addon)}>
            Delete webhook
          </Button>
        </>
      }
    >
      <div className="stack">
        <Deliveries addon={addon} disabledReason={updateReason} />
        <WebhookForm key={addon.id} addon={addon} providers={addons.data.providers} />
      </div>
      {question}
    </Page>
  )
}
