import { useQueryClient } from '@tanstack/react-query'
import { api, invalidate, type Schema } from '../../api'
import { ConfirmDialog, toast } from '../../ui'

type Addon = Schema<'Addon'>

/** What shows webhooks. */
export const addonPaths = ['/api/admin/addons']

/** How a webhook is called in the console: by its description. */
export const addonName = (addon: Pick<Addon, 'id' | 'description'>) => addon.description?.trim() || `Webhook ${addon.id}`

/** The webhook as a request has it. Sensitive parameters have the value ***** that keeps what is stored. */
export function addonBody({ provider, description, enabled, events, projects, environments, parameters }: Addon): Schema<'AddonRequest'> {
  return { provider: provider as Schema<'AddonRequest'>['provider'], description, enabled, events, projects, environments, parameters }
}

/** Asks before a webhook is deleted, because its secrets cannot be restored. */
export function DeleteWebhook({ addon, onClose, onDeleted }: { addon: Addon; onClose: () => void; onDeleted?: () => void }) {
  const client = useQueryClient()
  const remove = async () => {
    await api.delete('/api/admin/addons/{addonId}', { path: { addonId: addon.id } })
    onDeleted?.()
    toast.success(`${addonName(addon)} deleted`)
    await invalidate(client, addonPaths)
  }
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`Delete ${addonName(addon)}?`}
      description="Events that it has not sent yet are not sent. Its URL and secrets are stored nowhere else, so this cannot be undone. To pause the webhook, disable it instead."
      action="Delete webhook"
      onConfirm={remove}
    />
  )
}
