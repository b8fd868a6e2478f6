import { useQuery } from '@tanstack/react-query'
import { api, useChange, useMe, type Schema } from '../../api'
import { FormActions, useForm } from '../../forms'
import { protection } from '../../requests/drafts'
import { Checkbox, Dialog, Loaded, Notice, NumberField, plural } from '../../ui'

const maxApprovals = 10

interface ProtectionDialogProps {
  projectId: string
  environment: Schema<'ProjectEnvironment'>
  onClose: () => void
}

/** Switches change requests on or off in an environment of a project, and sets how many approvals they need. */
export function ProtectionDialog({ projectId, environment, onClose }: ProtectionDialogProps) {
  const query = useQuery(protection(projectId))
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Change requests in ${environment.name}`}
      description="While they are on, a change of a flag here is proposed by one person and approved by others before applications see it."
    >
      <Loaded query={query} lines={2}>
        {({ environments }) => (
          <ProtectionForm
            projectId={projectId}
            environment={environment}
            approvals={environments.find((one) => one.environment === environment.name)?.requiredApprovals}
            onClose={onClose}
          />
        )}
      </Loaded>
    </Dialog>
  )
}

function ProtectionForm({ projectId, environment, approvals, onClose }: ProtectionDialogProps & { approvals?: number }) {
  const { name, requiredApprovals: least = 1, nobodySkips, offAllowed = false } = environment
  const { can } = useMe()
  const save = useChange({
    change: async ({ offAllowed: off, ...body }: Schema<'ReviewRequest'> & { offAllowed: boolean }) => {
      await api.put('/api/admin/projects/{projectId}/environments/{environment}/change-requests/config', { path: { projectId, environment: name }, body })
      if (off !== offAllowed) await api.put('/api/admin/environments/update/{environmentName}', { path: { environmentName: name }, body: { offAllowed: off } })
    },
    invalidates: ['/api/admin/projects', '/api/admin/environments'],
    success: (_, { changeRequestsEnabled }) => `Change requests are ${changeRequestsEnabled ? 'on' : 'off'} in ${name}`,
    showsErrors: true,
    onSuccess: onClose,
  })
  const form = useForm<{ changeRequestsEnabled: boolean; requiredApprovals: number | null; offAllowed: boolean }>({
    initial: { changeRequestsEnabled: approvals !== undefined, requiredApprovals: approvals ?? least, offAllowed },
    submit: ({ requiredApprovals, ...values }) => save.mutateAsync(values.changeRequestsEnabled ? { requiredApprovals, ...values } : values),
    check: ({ changeRequestsEnabled, requiredApprovals }) => ({
      requiredApprovals:
        changeRequestsEnabled &&
        !(requiredApprovals !== null && Number.isInteger(requiredApprovals) && requiredApprovals >= 1 && requiredApprovals <= maxApprovals)
          ? `Enter a number from 1 to ${maxApprovals}.`
          : '',
    }),
  })
  return (
    <form {...form.props}>
      <Checkbox
        label="Change requests are needed"
        checked={form.values.changeRequestsEnabled}
        onChange={(changeRequestsEnabled) => form.set({ changeRequestsEnabled })}
      />
      {form.values.changeRequestsEnabled && (
        <>
          <NumberField label="Approvals" min={1} max={maxApprovals} step={1} {...form.field('requiredApprovals')} />
          <Checkbox
            label="Switching off needs no change request"
            hint={`For ${name} in all projects: a flag can be switched off at once, unless other flags depend on it.`}
            disabledReason={can('UPDATE_ENVIRONMENT').allowed ? undefined : 'Administrators set this.'}
            checked={form.values.offAllowed}
            onChange={(offAllowed) => form.set({ offAllowed })}
          />
        </>
      )}
      {environment.requiredApprovals !== undefined && (
        <Notice>
          Change requests in {name} need at least {plural(environment.requiredApprovals, 'approval')}, and no project can switch them off. Administrators set
          this on the Environments page.
        </Notice>
      )}
      {nobodySkips && <p className="soft">No one can change flags here without a change request, except an administrator in an emergency.</p>}
      <FormActions form={form} submit="Save" onCancel={onClose} />
    </form>
  )
}
