import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, errorText, useChange, useMe } from '../../api'
import { at, countChanges, draftPath, isDraftOf, pendingQuery, requestPath, touchedRequests, versionOf } from '../../requests/data'
import { addToDraft, useProtection } from '../../requests/drafts'
import { Button, Dialog, listed, plural } from '../../ui'
import { useApprovers } from '../requests/reviewers'
import { Affected } from './strategy/affected'
import { useSwitch } from './switch'

interface NotOffProps {
  project: string
  flag: string
  environment: string
  onClose: () => void
}

const shownApprovers = 5

/** Says that a flag stays on until its change request is approved, and sends that to review at once. Who may skip reviews can switch it off. */
export default function NotOffDialog({ project, flag, environment, onClose }: NotOffProps) {
  const client = useQueryClient()
  const { can, user } = useMe()
  const { requiredApprovals = 1, nobodySkips } = useProtection(project).of(environment) ?? {}
  const approvers = useApprovers({ project, environment, createdBy: { id: user?.id } })?.map(({ label }) => label)
  const draft = (useQuery({ ...pendingQuery(project), staleTime: 0 }).data ?? []).find((one) => isDraftOf(one, user?.id) && one.environment === environment)
  const others = draft ? countChanges(draft) : 0
  const change = { feature: flag, action: 'updateEnabled' as const, payload: { enabled: false } }
  const options = { invalidates: touchedRequests, showsErrors: true, onSuccess: onClose }
  const add = useChange({ ...options, change: () => addToDraft(client, { project, environment, changes: [change] }) })
  const send = useChange({
    ...options,
    change: async () => {
      let request = await api.post(draftPath, { path: { projectId: project, environment }, body: [change] })
      if (!request.title) {
        await api.put(`${requestPath}/title`, { path: at(request), body: { title: `Switch off ${flag}` } })
        request = await api.get(requestPath, { path: at(request) })
      }
      await api.put(`${requestPath}/state`, { path: at(request), body: { state: 'In review' }, ifMatch: versionOf(request) })
    },
    success: `${flag} stays on in ${environment} until ${plural(requiredApprovals, 'approval')} and the change is applied. It is in review.`,
  })
  const off = useSwitch({ project, name: flag }, { direct: true, onSuccess: onClose })
  const pending = [add, send, off].some(({ isPending }) => isPending)
  const error = [add, send, off].find((one) => one.error)?.error
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Not off yet: ${plural(requiredApprovals, 'approval')} needed`}
      description={`${
        approvers === undefined
          ? ''
          : approvers.length > 0
            ? `${listed(approvers.slice(0, shownApprovers))} can approve it. `
            : 'No one else can approve it yet: the page Access of the project gives that permission. '
      }Until then ${flag} stays on in ${environment}.`}
      actions={
        <>
          {!nobodySkips && can('SKIP_CHANGE_REQUEST', project, environment).allowed && (
            <Button variant="danger" pending={pending} onClick={() => off.mutate({ environment, on: false })}>
              Switch off now
            </Button>
          )}
          <Button pending={pending} onClick={() => add.mutate()}>
            Add to draft
          </Button>
          <Button variant="primary" data-focus="" pending={pending} onClick={() => send.mutate()}>
            Send to review now
          </Button>
        </>
      }
    >
      {others > 0 && (
        <p>
          Your draft for {environment} has {plural(others, 'other change')}, which {others === 1 ? 'is' : 'are'} sent, too.
        </p>
      )}
      <Affected projectId={project} flag={flag} environment={environment} on={false} />
      {can('UPDATE_ENVIRONMENT').allowed && (
        <p className="soft small">
          An environment can allow this without a request:{' '}
          <Link to="/projects/$projectId/environments" params={{ projectId: project }} search={{ review: environment } as never}>
            Change requests in {environment}
          </Link>
        </p>
      )}
      {error && (
        <p role="alert" className="form-error">
          {errorText(error)}
        </p>
      )}
    </Dialog>
  )
}
