import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, apiQuery, useChange } from '../../api'
import { FormActions, useForm } from '../../forms'
import { at, requestPath, touchedRequests, type ChangeRequest } from '../../requests/data'
import { Button, Dialog, Icons, Loaded } from '../../ui'
import { MultiCombobox } from '../../ui/combobox'

const maxReviewers = 10

const approversPath = `${requestPath}/approvers` as const
const availablePath = '/api/admin/projects/{projectId}/change-requests/available-reviewers/{environment}'

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
  const { project, environment, createdBy, reviewers } = request
  const available = useQuery(apiQuery(availablePath, { path: { projectId: project, environment } }))
  const save = useChange({
    change: (ids: string[]) => api.put(approversPath, { path: at(request), body: { reviewers: ids.map(Number) } }),
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
      <Loaded query={available} lines={2}>
        {(data) => (
          <form {...form.props}>
            <MultiCombobox
              label="Reviewers"
              choices={data.reviewers.filter((one) => one.id !== createdBy.id).map(({ id, name }) => ({ value: String(id), label: name }))}
              emptyText="No one else can approve here."
              {...form.field('reviewers')}
            />
            <FormActions form={form} submit="Save reviewers" onCancel={onClose} />
          </form>
        )}
      </Loaded>
    </Dialog>
  )
}
