import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { apiQuery, useMe } from '../../api'
import { Page, type Crumb } from '../../shell'
import { Badge, Button, ErrorState, Icons, Loading } from '../../ui'
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
  if (!addons.data) {
    return (
      <Page title="Webhook" crumbs={crumbs}>
        {addons.error ? <ErrorState error={addons.error} onRetry={() => void addons.refetch()} /> : <Loading />}
      </Page>
    )
  }
  const { providers } = addons.data
  if (id === 'new') {
    return (
      <Page title="Create webhook" crumbs={crumbs}>
        <WebhookForm providers={providers} />
      </Page>
    )
  }
  const addon = addons.data.addons.find((one) => String(one.id) === id)
  if (!addon) {
    return (
      <Page title="Webhook" crumbs={crumbs}>
        <ErrorState title="Not found" error={`There is no webhook with the id ${id}. It may have been deleted.`} />
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
            Send a test event
          </Button>
          <Button variant="quiet" icon={<Icons.Trash />} disabledReason={me.can('DELETE_ADDON').reason} onClick={() => remove(addon)}>
            Delete webhook
          </Button>
        </>
      }
    >
      <div className="stack">
        <Deliveries addon={addon} disabledReason={updateReason} />
        <WebhookForm key={addon.id} addon={addon} providers={providers} />
      </div>
      {question}
    </Page>
  )
}
