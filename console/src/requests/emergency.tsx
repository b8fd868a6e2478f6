import { FormDialog, useForm } from '../forms'
import { Notice, TextField } from '../ui'
import { setDirect } from './drafts'

interface EmergencyDialogProps {
  project: string
  environment: string
  onClose: () => void
}

/** Asks an administrator for the reason of an emergency. Changes of the environment are then made directly, although no one may skip change requests. */
export default function EmergencyDialog({ project, environment, onClose }: EmergencyDialogProps) {
  const form = useForm({
    initial: { reason: '' },
    submit: async ({ reason }) => {
      setDirect(project, environment, true, reason.trim())
      onClose()
    },
    check: ({ reason }) => ({ reason: reason.trim() === '' ? 'Say why this cannot wait for a review.' : '' }),
  })
  return (
    <FormDialog
      form={form}
      submit="Change without a review"
      onClose={onClose}
      title={`Change ${environment} in an emergency?`}
      description="Only administrators can skip change requests here, and only in an emergency."
    >
      <Notice kind="warn">
        What you change in {environment} then applies at once, without a review, until you stop it or load the page again. The log and its webhooks get an event
        of its own for each change, with your name and the reason.
      </Notice>
      <TextField label="Reason" required maxLength={200} {...form.field('reason')} hint="Such as: Payments fail since 03:10, incident 4711." />
    </FormDialog>
  )
}
