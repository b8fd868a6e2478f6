import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, apiQuery, useChange } from '../../api'
import { FormActions, useForm } from '../../forms'
import { at, requestPath, touchedRequests, type ChangeRequest } from '../../requests/data'
import { Button, Dialog, Icons, type Choice } from '../../ui'
import { MultiCombobox } from '../../ui/combobox'

export const maxReviewers = 10

const approversPath = `${requestPath}/approvers` as const
const availablePath = '/api/admin/projects/{projectId}/change-requests/available-reviewers/{environment}'

/** Who can approve beside the author; undefined while that is loading. */
export function useApprovers({
  project,
  environment,
  createdBy,
}: Pick<ChangeRequest, 'project' | 'environment'> & { createdBy: { id?: number } }): Choice[] | undefined {
  const available = useQuery(apiQuery(availablePath, { path: { projectId: project, environment } }))
  return available.data?.reviewers.filter((one) => one.id !== createdBy.id).map(({ id, name }) => ({ value: String(id), label: name }))
}

/** Asks people to review: their IDs. */
export const askReviewers = (request: ChangeRequest, ids: readonly string[]) =>
  api.put(approversPath, { path: at(request), body: { reviewers: ids.map(Number) } })

/** The people who were asked to review a change request. The author and administrators ask them. */
export function Reviewers({ request, editable }: { request: ChangeRequest; editable: boolean }) {
  const [open, setOpen] = useState(false)
  const asked = useQuery({ ...apiQuery(approversPath, { path: at(request) }), enabled: request.reviewers.length > 0 }).data?.reviewers ?? []
  const names = request.reviewers.length > 0 ? asked.map(({ name }) => name).join(', ') : 'no one yet'
  return (
    <div className="row">
      <p className="break">
        <span className="soft">Asked to review: </span>
        {names}
      </p>
      {editable && (
        <Button size="small" variant="quiet" icon={<Icons.Users />} onClick={() => setOpen(true)}>
          Ask reviewers
        </Button>
      )}
      {open && <ReviewersDialog request={request} onClose={() => setOpen(false)} />}
    </div>
  )
}

function ReviewersDialog({ request, onClose }: { request: ChangeRequest; onClose: () => void }) {
  const { environment, reviewers } = request
  const approvers = useApprovers(request)
  const save = useChange({
    change: (ids: string[]) => askReviewers(request, ids),
    invalidates: touchedRequests,
    success: 'Reviewers saved',
    showsErrors: true,
    onSuccess: onClose,
  })
  const form = useForm({
    initial: { reviewers: reviewers.map(String) },
    submit: (values) => save.mutateAsync(values.reviewers),
    check: (values) => ({ reviewers: values.reviewers.length > maxReviewers ? `Choose at most ${maxReviewers} people.` : '' }),
  })
  return (
    <Dialog open onClose={onClose} title="Who should review it?" description={`These people can approve in ${environment}. Others who can may do so as well.`}>
      <form {...form.props}>
        <MultiCombobox label="Reviewers" choices={approvers ?? []} emptyText="No one else can approve here." {...form.field('reviewers')} />
        <FormActions form={form} submit="Save reviewers" onCancel={onClose} />
      </form>
    </Dialog>
  )
}
