import { api, useChange } from '../../api'
import { FormActions, useForm } from '../../forms'
import { TextArea } from '../../ui'
import { flagPath, touched, useReasons, type Flag } from './data'

/** A field to comment on a flag. The comments are in its history. */
export function CommentForm({ flag }: { flag: Flag }) {
  const reason = useReasons(flag)('UPDATE_FEATURE')
  const add = useChange({
    change: (text: string) => api.post(`${flagPath}/comments`, { path: { projectId: flag.project, featureName: flag.name }, body: { text } }),
    invalidates: touched,
    showsErrors: true,
    onSuccess: () => form.reset({ text: '' }),
  })
  const form = useForm({ initial: { text: '' }, submit: ({ text }) => add.mutateAsync(text.trim()) })
  if (reason) return null
  return (
    <form {...form.props} className="comment-form">
      <TextArea label="Comment" hideLabel rows={form.dirty ? 3 : 1} maxLength={1000} placeholder="Write a comment" {...form.field('text')} />
      {form.dirty && <FormActions form={form} submit="Comment" onCancel={() => form.reset({ text: '' })} />}
    </form>
  )
}
