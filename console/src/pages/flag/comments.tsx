import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { actorOf, api, apiQuery, useChange } from '../../api'
import { FormActions, useForm } from '../../forms'
import { Button, DateTime, Section, TextArea } from '../../ui'
import { flagPath, touched, useReasons, type Flag } from './data'

/** The type of the events that are comments. */
export const commentType = 'feature-comment-added'

const shownComments = 3

/** The comments on a flag, newest first, and a field to write one. */
export function Comments({ flag }: { flag: Flag }) {
  const [all, setAll] = useState(false)
  const reason = useReasons(flag)('UPDATE_FEATURE')
  const comments = useQuery(
    apiQuery('/api/admin/events/{featureName}', { path: { featureName: flag.name }, query: { type: `IS:${commentType}`, limit: '100' } }),
  )
  const add = useChange({
    change: (text: string) => api.post(`${flagPath}/comments`, { path: { projectId: flag.project, featureName: flag.name }, body: { text } }),
    invalidates: touched,
    showsErrors: true,
    onSuccess: () => form.reset({ text: '' }),
  })
  const form = useForm({ initial: { text: '' }, submit: ({ text }) => add.mutateAsync(text.trim()) })
  const events = comments.data?.events ?? []
  if (reason && events.length === 0) return null
  return (
    <Section title="Comments">
      {!reason && (
        <form {...form.props}>
          <TextArea
            label="Comment"
            hideLabel
            rows={2}
            maxLength={1000}
            placeholder="Write a comment, such as why it changes next week"
            {...form.field('text')}
          />
          {form.dirty && <FormActions form={form} submit="Comment" onCancel={() => form.reset({ text: '' })} />}
        </form>
      )}
      {events.length > 0 && (
        <ol className="lines" aria-label={`Comments on ${flag.name}`}>
          {events.slice(0, all ? undefined : shownComments).map((event) => (
            <li key={event.id} className="comment">
              <p className="soft small">
                <span className="break">{actorOf(event)}</span>, <DateTime value={event.createdAt} />
              </p>
              <p className="break comment-text">{String(event.data?.text ?? '')}</p>
            </li>
          ))}
        </ol>
      )}
      {events.length > shownComments && !all && (
        <div>
          <Button size="small" variant="quiet" onClick={() => setAll(true)}>
            Show all {events.length}
          </Button>
        </div>
      )}
    </Section>
  )
}
