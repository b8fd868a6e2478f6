import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, type ReactNode } from 'react'
import { actorName, actorOf, api, apiQuery, isConflict, type Schema, useChange, useMe } from '../../api'
import { FormDialog, useForm } from '../../forms'
import { at, conflictsOf, countChanges, isOpen, requestPath, touchedRequests, versionOf, type ChangeRequest } from '../../requests/data'
import { useProtection } from '../../requests/drafts'
import { fullDate, localZone, zonedDate } from '../../ui/dates'
import { Button, ConfirmDialog, DateTime, Icons, Notice, listed, plural, Section, Stepper, TextArea, TextField } from '../../ui'
import { MultiCombobox } from '../../ui/combobox'
import { whereOf } from './present'
import { Reviewers, askReviewers, maxReviewers, useApprovers } from './reviewers'

/** What is read again after a change request was applied: everything that shows flags. */
const applied = ['/api/admin/projects', '/api/admin/features', '/api/admin/search', '/api/admin/events', '/api/admin/archive', '/api/admin/segments']

/** The dialog that is open. */
export type OpenDialog = 'send' | 'approve' | 'reject' | 'apply' | 'cancel' | 'discard' | 'schedule' | undefined

interface ActionsProps {
  request: ChangeRequest
  mine: boolean
  open: OpenDialog
  setOpen: (open: OpenDialog) => void
}

/** Whether the caller may change what the freeze of a change request holds. */
function useSkipsFreeze({ project, freeze }: ChangeRequest) {
  const { can } = useMe()
  return freeze !== undefined && can('SKIP_CHANGE_FREEZE', project, freeze.environment).allowed
}

/** Where a change request stands, and the next steps: sending, approving, applying. */
export function Actions({ request, mine, open, setOpen }: ActionsProps) {
  const { can, user, isAdmin } = useMe()
  const { state, project, environment } = request
  const close = () => setOpen(undefined)
  const empty = countChanges(request) === 0 ? 'It has no changes.' : undefined
  const outdated = conflictsOf(request).length > 0 ? 'Update the request first, see above.' : undefined
  const approval = mine
    ? 'Someone else has to approve what you propose.'
    : request.approvals.some((one) => one.createdBy.id === user?.id)
      ? 'You have approved it.'
      : can('APPROVE_CHANGE_REQUEST', project, environment).reason
  const application = can('APPLY_CHANGE_REQUEST', project, environment).reason
  const { freeze } = request
  const skips = useSkipsFreeze(request)
  const frozen = freeze && !skips ? `${freeze.environment} is frozen until ${fullDate(new Date(freeze.until))}: it can be applied after that.` : undefined
  const where = whereOf(request)
  const changes = plural(countChanges(request), 'change')
  const dialogs: Partial<Record<NonNullable<OpenDialog>, Omit<StateDialogProps, 'request' | 'onClose'>>> = {
    approve: {
      to: 'Approved',
      title: `Approve ${changes} in ${where}?`,
      description: 'You approve what this page shows. When the request or what it changes is changed later, your approval ends.',
      action: 'Approve',
      done: 'Approved',
    },
    reject: {
      to: 'Rejected',
      title: 'Reject this change request?',
      description: 'It is closed, and nothing changes. Say why, so that the author can do better.',
      action: 'Reject',
      done: 'Rejected',
      danger: true,
    },
    apply: {
      to: 'Applied',
      title: `Apply ${changes} in ${where}?`,
      description: 'All changes are made at once, or none. Applications follow with their next request.',
      action: 'Apply',
      done: `Applied in ${where}`,
    },
    cancel: {
      to: 'Cancelled',
      title: 'Cancel this change request?',
      description: 'It is closed, and nothing changes. It stays in the list of closed requests.',
      action: 'Cancel request',
      keep: 'Keep it',
      done: 'Cancelled',
      danger: true,
    },
    schedule: {
      to: 'Scheduled',
      title: 'When should it be applied?',
      description: 'It is applied with your permissions, within two minutes of this time. If what it changes has changed by then, it waits for a person.',
      action: 'Schedule',
      done: 'Scheduled',
    },
  }
  const approvers = useApprovers(request)?.map(({ label }) => label) ?? []
  const dialog = open && dialogs[open]
  if (!isOpen(request))
    return (
      <Section>
        <Progress request={request} />
        <StateText request={request} />
      </Section>
    )
  return (
    <Section>
      <Progress request={request} />
      <StateText request={request} />
      <Votes request={request} />
      {state === 'In review' && <Reviewers request={request} editable={mine || isAdmin} />}
      {state === 'In review' && approval && (
        <p className="soft">
          {approval} {approvers.length > 0 && `${listed(approvers.slice(0, shownApprovers))} can approve.`}
        </p>
      )}
      <div className="row">
        {state === 'Draft' && (
          <Button variant="primary" disabledReason={empty} onClick={() => setOpen('send')}>
            Send to review
          </Button>
        )}
        {state === 'In review' && (
          <Button variant="primary" icon={<Icons.Check />} disabledReason={approval ?? empty ?? outdated} onClick={() => setOpen('approve')}>
            Approve
          </Button>
        )}
        {(state === 'Approved' || state === 'Scheduled') && (
          <Button variant="primary" disabledReason={application ?? frozen} onClick={() => setOpen('apply')}>
            {state === 'Scheduled' ? 'Apply now' : 'Apply'}
          </Button>
        )}
        {(state === 'Approved' || state === 'Scheduled') && (
          <Button icon={<Icons.Clock />} disabledReason={application} onClick={() => setOpen('schedule')}>
            {state === 'Scheduled' ? 'Change the time' : 'Schedule'}
          </Button>
        )}
        {state !== 'Draft' && !mine && (
          <Button disabledReason={can('APPROVE_CHANGE_REQUEST', project, environment).reason} onClick={() => setOpen('reject')}>
            Reject
          </Button>
        )}
        {state === 'Draft' ? (
          <Button variant="quiet" icon={<Icons.Trash />} onClick={() => setOpen('discard')}>
            Discard draft
          </Button>
        ) : (
          (mine || can('PROJECT_CHANGE_REQUEST_WRITE', project).allowed) && (
            <Button variant="quiet" onClick={() => setOpen('cancel')}>
              Cancel request
            </Button>
          )
        )}
      </div>
      {open === 'send' && <SendDialog request={request} onClose={close} />}
      {dialog && <StateDialog key={open} {...dialog} request={request} onClose={close} />}
      {open === 'discard' && <DiscardDialog request={request} onClose={close} />}
    </Section>
  )
}

const shownApprovers = 5

// The steps that a request goes through, with what is known of each.
function Progress({ request }: { request: ChangeRequest }) {
  const { state, stateTimestamps, approvals, minApprovals, schedule, createdBy, createdAt } = request
  const when = (of: string) => stateTimestamps[of] && <DateTime value={stateTimestamps[of]} />
  const all = ['Draft', 'In review', 'Approved', ...(schedule || state === 'Scheduled' ? ['Scheduled'] : []), 'Applied']
  const ended = state === 'Rejected' || state === 'Cancelled'
  const names = ended ? [...all.filter((name) => stateTimestamps[name] && name !== 'Applied'), state] : all
  const notes: Record<string, ReactNode> = {
    Draft: (
      <>
        {actorName(createdBy)}, <DateTime value={createdAt} />
      </>
    ),
    'In review': state === 'In review' ? `${approvals.length} of ${plural(minApprovals, 'approval')}` : when('In review'),
    Approved: approvals.length > 0 && (
      <>
        {listed(approvals.map((one) => actorName(one.createdBy)))}, <DateTime value={approvals.at(-1)!.createdAt} />
      </>
    ),
    Scheduled: schedule && (
      <>
        <DateTime value={schedule.scheduledAt} />, {zonedDate(new Date(schedule.scheduledAt))}
      </>
    ),
  }
  const current = state === 'Applied' ? names.length : names.indexOf(state)
  return (
    <Stepper
      label="Steps of the change request"
      steps={names.map((label) => ({ label, note: notes[label] || when(label) }))}
      current={current}
      failed={ended || schedule?.status === 'failed'}
    />
  )
}

const StateText = ({ request }: { request: ChangeRequest }) => {
  const text = useStateText(request)
  return text && <p>{text}</p>
}

function useStateText(request: ChangeRequest): ReactNode {
  const { user } = useMe()
  const { state, stateTimestamps, schedule, environment, freeze } = request
  const required = useProtection(request.project).of(environment)?.requiredApprovals ?? Infinity
  const skips = useSkipsFreeze(request)
  const since = stateTimestamps[state]
  switch (state) {
    case 'Draft':
      return <>Only you see this draft. Nothing has changed in {environment} yet.</>
    case 'In review':
      return conflictsOf(request).length > 0 ? (
        <>Approvals do not count until it is updated.</>
      ) : (
        request.guardedEnvironments.length === 1 && request.minApprovals > required && (
          <>It needs one more approval than others, because a token took part in it.</>
        )
      )
    case 'Approved':
      if (freeze)
        return (
          <>
            It is approved. <FrozenUntil freeze={freeze} />: it can be applied after that{skips && ', and by you already now'}. Nothing has changed in{' '}
            {environment} yet.
          </>
        )
      return <>It is approved and can be applied. Nothing has changed in {environment} yet.</>
    case 'Scheduled':
      if (schedule?.status !== 'pending')
        return (
          <>
            {schedule?.status === 'failed' ? 'Applying it failed' : 'It is not applied by itself any more'}: {schedule?.reason}
          </>
        )
      // It is applied with the permissions of the one who scheduled it, who may be able to skip the freeze.
      if (freeze && schedule.scheduledAt < freeze.until && !(skips && schedule.scheduledBy.id === user?.id))
        return (
          <>
            It is scheduled for <DateTime value={schedule.scheduledAt} absolute />, with the permissions of {actorName(schedule.scheduledBy)}.{' '}
            <FrozenUntil freeze={freeze} />: it is applied after that
            {new Date(schedule.scheduledAt) > new Date() && `, unless ${actorName(schedule.scheduledBy)} can skip the freeze`}.
          </>
        )
      return (
        <>
          It will be applied <DateTime value={schedule.scheduledAt} absolute />, with the permissions of {actorName(schedule.scheduledBy)}.
        </>
      )
    default:
      return (
        <>
          {state} {since && <DateTime value={since} />}
          <By request={request} />.
        </>
      )
  }
}

// Who closed a change request, which its events know.
function By({ request }: { request: ChangeRequest }) {
  const events = useQuery({ ...apiQuery(`${requestPath}/evidence`, { path: at(request) }), staleTime: 60_000 }).data?.events ?? []
  const closed = events.findLast(({ type }) => type === `change-request-${request.state.toLowerCase()}`)
  if (!closed) return null
  const known = [request.createdBy, ...request.approvals.map((one) => one.createdBy)].find(({ id }) => id === closed.createdByUserId)
  const scheduled = events.some(({ type }) => type === 'change-request-scheduled-application-success')
  return (
    <>
      {' '}
      {scheduled ? 'at the scheduled time, with the permissions of' : 'by'} <span className="break">{known ? actorName(known) : actorOf(closed)}</span>
    </>
  )
}

function FrozenUntil({ freeze }: { freeze: Schema<'Held'> }) {
  return (
    <>
      {freeze.environment} is frozen until <DateTime value={freeze.until} absolute />
    </>
  )
}

function Votes({ request }: { request: ChangeRequest }) {
  const others = request.guardedEnvironments.filter((name) => name !== request.environment)
  return (
    <>
      {request.approvals.length > 0 && (
        <ul className="stack-s" aria-label="Approvals">
          {request.approvals.map(({ createdBy, createdAt }) => (
            <li key={createdBy.id} className="row">
              <Icons.Check />
              <span className="break">{actorName(createdBy)}</span>
              <span className="soft">
                <DateTime value={createdAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <Notice>It changes a flag as a whole, so approving and applying need the permissions in {[request.environment, ...others].join(', ')}.</Notice>
      )}
    </>
  )
}

type State = Schema<'StateRequest'>['state']

// A change of the state. It is of the version that the page showed when the dialog was opened: the server refuses if there is a newer one,
// also when the page behind the dialog shows that in the meantime.
function useTransition(request: ChangeRequest, to: State, done: string, onClose: () => void) {
  const seen = useRef(versionOf(request))
  return useChange({
    change: async ({ comment, scheduledAt, title }: { comment: string; scheduledAt?: string; title?: string }) => {
      try {
        if (title !== undefined) {
          await api.put(`${requestPath}/title`, { path: at(request), body: { title }, ifMatch: seen.current })
          seen.current = versionOf(await api.get(requestPath, { path: at(request) }))
        }
        await api.put(`${requestPath}/state`, {
          path: at(request),
          body: { state: to, comment: comment.trim() || undefined, scheduledAt },
          ifMatch: seen.current,
        })
      } catch (error) {
        if (!isConflict(error)) throw error
        throw new Error('The change request has changed since this page showed it. Close this, look at it again, and decide then.', { cause: error })
      }
    },
    invalidates: [...touchedRequests, ...(to === 'Applied' ? applied : [])],
    success: done,
    showsErrors: true,
    onSuccess: onClose,
  })
}

interface StateDialogProps {
  request: ChangeRequest
  to: State
  title: string
  description: string
  action: string
  done: string
  danger?: boolean
  keep?: string
  onClose: () => void
}

function StateDialog({ request, to, title, description, action, done, danger, keep, onClose }: StateDialogProps) {
  const move = useTransition(request, to, done, onClose)
  const form = useForm({
    initial: { comment: '', scheduledAt: '' },
    check: ({ scheduledAt }) => (to === 'Scheduled' && !(new Date(scheduledAt) > new Date()) ? { scheduledAt: 'Choose a time in the future.' } : {}),
    submit: ({ comment, scheduledAt }) => move.mutateAsync({ comment, scheduledAt: to === 'Scheduled' ? new Date(scheduledAt).toISOString() : undefined }),
  })
  return (
    <FormDialog form={form} submit={action} danger={danger} cancel={keep} onClose={onClose} title={title} description={description}>
      {to === 'Scheduled' && <TextField label={`Time (${localZone})`} type="datetime-local" required {...form.field('scheduledAt')} />}
      <TextArea label="Comment" rows={2} maxLength={1000} {...form.field('comment')} />
    </FormDialog>
  )
}

function SendDialog({ request, onClose }: { request: ChangeRequest; onClose: () => void }) {
  const move = useTransition(request, 'In review', 'Sent to review', onClose)
  const approvers = useApprovers(request)
  const form = useForm({
    initial: { title: request.title ?? '', reviewers: request.reviewers.map(String), comment: '' },
    submit: async ({ title, reviewers, comment }) => {
      const name = title.trim()
      if (reviewers.length > 0) await askReviewers(request, reviewers)
      await move.mutateAsync({ comment, title: name === (request.title ?? '') ? undefined : name })
    },
    check: ({ reviewers }) => ({ reviewers: reviewers.length > maxReviewers ? `Choose at most ${maxReviewers} people.` : '' }),
  })
  return (
    <FormDialog
      form={form}
      submit="Send to review"
      onClose={onClose}
      title={`Send ${plural(countChanges(request), 'change')} to review`}
      description={`Everyone who sees the project can then see it. It needs ${plural(request.minApprovals, 'approval')}.`}
    >
      <TextField label="Title" maxLength={200} {...form.field('title')} hint="What it is for, such as: Start the rollout of the new checkout." />
      <MultiCombobox
        label="Reviewers"
        choices={approvers ?? []}
        hint={
          approvers?.length === 0 ? `No one else can approve in ${request.environment} yet. The page Access of the project gives that permission.` : undefined
        }
        {...form.field('reviewers')}
      />
      <TextArea label="Comment" rows={3} maxLength={1000} {...form.field('comment')} hint="What reviewers should know." />
    </FormDialog>
  )
}

function DiscardDialog({ request, onClose }: { request: ChangeRequest; onClose: () => void }) {
  const navigate = useNavigate()
  const discard = useChange({
    change: () => api.delete(requestPath, { path: at(request) }),
    invalidates: touchedRequests,
    success: 'Draft discarded',
    showsErrors: true,
    onSuccess: () => void navigate({ to: '/projects/$projectId/change-requests', params: { projectId: request.project } }),
  })
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`Discard ${plural(countChanges(request), 'change')}?`}
      description={`Nothing has changed in ${request.environment}, and nothing will.`}
      action="Discard draft"
      onConfirm={() => discard.mutateAsync()}
    />
  )
}
