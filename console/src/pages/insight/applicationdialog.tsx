import { api, type Schema } from '../../api'
import { FormDialog, useChangeForm } from '../../forms'
import { TextArea, TextField } from '../../ui'

/** Edits the description and address of an application. */
export function ApplicationDialog({ application, onClose }: { application: Schema<'Application'>; onClose: () => void }) {
  const path = { appName: application.appName }
  const requestOf = (body: { description: string; url: string }) => api.request.post('/api/admin/metrics/applications/{appName}', { path, body })
  const form = useChangeForm({
    initial: { description: application.description ?? '', url: application.url ?? '' },
    change: (body: { description: string; url: string }) => api.send(requestOf(body)),
    invalidates: ['/api/admin/metrics/applications'],
    success: 'Description saved',
    onSuccess: onClose,
    nameField: 'description',
  })
  return (
    <FormDialog form={form} submit="Save" onClose={onClose} title={`Edit ${application.appName}`}>
      <TextArea label="Description" maxLength={1000} {...form.field('description')} />
      <TextField label="URL with more information" type="url" maxLength={1000} {...form.field('url')} />
    </FormDialog>
  )
}
