import { actorName, api, useChange } from '../../api'
import { FormActions, useForm } from '../../forms'
import { at, requestPath, touchedRequests, type ChangeRequest } from '../../requests/data'
import { DateTime, Section, TextArea } from '../../ui'

/** What happened to a change request, with the comments, oldest first. */
export function Discussion({ request }: { request: ChangeRequest }) {
  const entries = [
    ...request.comments.map(({ createdBy, createdAt, text }) => ({ by: actorName(createdBy), at: createdAt, what: 'commented', text })),
    ...request.approvals.map(({ createdBy, createdAt }) => ({ by: actorName(createdBy), at: createdAt, what: 'approved', text: '' })),
    ...request.rejections.map(({ createdBy, createdAt }) => ({ by: actorName(createdBy), at: createdAt, what: 'rejected it', text: '' })),
  ].sort((a, b) => a.at.localeCompare(b.at))
  if (request.state === 'Draft') return null
  return (
    <Section title="Discussion">
      {entries.length > 0 && (
        <ol className="stack" aria-label="Comments and reviews">
          {entries.map(({ by, at: when, what, text }, index) => (
            <li key={index}>
              <p>
                <span className="strong break">{by}</span>{' '}
                <span className="soft">
                  {what} <DateTime value={when} />
                </span>
              </p>
              {text && <p className="request-comment break">{text}</p>}
            </li>
          ))}
        </ol>
      )}
      <CommentForm request={request} />
    </Section>
  )
}

function CommentForm({ request }: { request: ChangeRequest }) {
  const add = useChange({
    change: (text: string) => api.post(`${requestPath}/comments`, { path: at(request), body: { text } }),
    invalidates: touchedRequests,
    showsErrors: true,
  })
  const form = useForm({
    initial: { text: '' },
    submit: async ({ text }) => {
      await add.mutateAsync(text)
      form.reset()
    },
  })
  return (
    <form {...form.props}>
      <TextArea label="Comment" rows={2} maxLength={1000} {...form.field('text')} />
      <FormActions form={form} submit="Add comment" disabledReason={form.values.text.trim() ? undefined : 'Write a comment first.'} />
    </form>
  )
}
