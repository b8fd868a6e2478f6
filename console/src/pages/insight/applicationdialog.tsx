import { api, useChange, type Schema } from '../../api'
import { FormActions, useForm } from '../../forms'
import { Dialog, TextArea, TextField } from '../../ui'

/** Edits the description and address of an application. */
export function ApplicationDialog({ application, onClose }: { application: Schema<'Application'>; onClose: () => void }) {
  const path = { appName: application.appName }
  const requestOf = (body: { description: string; url: string }) => api.request.post('/api/admin/metrics/applications/{appName}', { path, body })
  const update = useChange({
    change: (body: { description: string; url: string }) => api.send(requestOf(body)),
    invalidates: ['/api/admin/metrics/applications'],
    success: 'Description saved',
    showsErrors: true,
    onSuccess: onClose,
  })
  const form = useForm({
    initial: { description: application.description ?? '', url: application.url ?? '' },
    submit: (values) => update.mutateAsync(values),
    nameField: 'description',
  })
  return (
    <Dialog open onClose={onClose} title={`Edit ${application.appName}`}>
      <form {...form.props}>
        <TextArea label="Description" maxLength={1000} {...form.field('description')} />
        <TextField label="URL with more information" type="url" maxLength={1000} {...form.field('url')} />
        <FormActions form={form} submit="Save" onCancel={onClose} />
      </form>
    </Dialog>
  )
}
