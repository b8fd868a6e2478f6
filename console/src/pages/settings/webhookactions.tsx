import { api, useChange, type Schema } from '../../api'
import { useConfirm } from '../../ui'

type Addon = Schema<'Addon'>

/** What shows webhooks. */
export const addonPaths = ['/api/admin/addons']

/** How a webhook is called in the console: by its description, or by where it sends. */
export const addonName = ({ id, description, host }: Pick<Addon, 'id' | 'description' | 'host'>) => description?.trim() || host || `Webhook ${id}`

/** The webhook as a request has it. Sensitive parameters have the value ***** that keeps what is stored. */
export function addonBody({ provider, description, enabled, events, projects, environments, parameters }: Addon): Schema<'AddonRequest'> {
  return { provider: provider as Schema<'AddonRequest'>['provider'], description, enabled, events, projects, environments, parameters }
}

/** Asks before a webhook is deleted, because its secrets cannot be restored. */
export function useDeleteWebhook(onDeleted?: () => void) {
  const remove = useChange({
    change: ({ id }: Addon) => api.delete('/api/admin/addons/{addonId}', { path: { addonId: id } }),
    invalidates: addonPaths,
    success: (_, addon) => `${addonName(addon)} deleted`,
    onSuccess: onDeleted,
    showsErrors: true,
  })
  return useConfirm((addon: Addon) => ({
    title: `Delete ${addonName(addon)}?`,
    description:
      'Events that it has not sent yet are not sent. Its URL and secrets are stored nowhere else, so this cannot be undone. To pause the webhook, disable it instead.',
    action: 'Delete webhook',
    onConfirm: () => remove.mutateAsync(addon),
  }))
}

/** Sends a test event of a webhook. */
export const useTestWebhook = (success?: string, onSuccess?: (addon: { id: number }) => void) =>
  useChange({
    change: ({ id }: { id: number }) => api.post('/api/admin/addons/{addonId}/test', { path: { addonId: id } }),
    invalidates: addonPaths,
    success,
    onSuccess: (_, addon) => onSuccess?.(addon),
  })
