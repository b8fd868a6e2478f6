import { api, useChange } from '../../api'
import { FormDialog, useForm } from '../../forms'
import { at, requestPath, touchedRequests, type ChangeRequest } from '../../requests/data'
import { TextField } from '../../ui'

/** Changes the title of a change request. */
export function TitleDialog({ request, onClose }: { request: ChangeRequest; onClose: () => void }) {
  const save = useChange({
    change: (title: string) => api.put(`${requestPath}/title`, { path: at(request), body: { title } }),
    invalidates: touchedRequests,
    success: 'Title saved',
    showsErrors: true,
    onSuccess: onClose,
  })
  const form = useForm({ initial: { title: request.title ?? '' }, submit: ({ title }) => save.mutateAsync(title.trim()) })
  return (
    <FormDialog
      form={form}
      submit="Save title"
      onClose={onClose}
      title="Title of the change request"
      description={request.approvals.length > 0 ? 'The approvals are for the present title: they end when you save another one.' : undefined}
    >
      <TextField label="Title" required maxLength={200} {...form.field('title')} hint="What it is for, such as: Start the rollout of the new checkout." />
    </FormDialog>
  )
}
