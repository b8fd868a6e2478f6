import { api, useMe, type Schema } from '../../api'
import { FormDialog, useChangeForm } from '../../forms'
import { Checkbox, NumberField, Select, TextField } from '../../ui'

interface EnvironmentDialogProps {
  environment?: Schema<'CountedEnvironment'>
  onClose: () => void
  invalidates: string[]
}

interface Values {
  name: string
  type: string
  enabled: boolean
  /** Whether no project can switch change requests off here. */
  required: boolean
  approvals: number | null
  nobodySkips: boolean
  offAllowed: boolean
}

const types = [
  { value: 'development', label: 'Development' },
  { value: 'test', label: 'Test' },
  { value: 'preproduction', label: 'Preproduction' },
  { value: 'production', label: 'Production' },
  { value: 'other', label: 'Other' },
]

// The API takes any word: the one that is stored stays a choice.
const typesWith = (type = 'other') => (types.some(({ value }) => value === type) ? types : [...types, { value: type, label: type }])

/** Creates an environment, or changes the type and the rules of one. */
export function EnvironmentDialog({ environment, onClose, invalidates }: EnvironmentDialogProps) {
  const me = useMe()
  const form = useChangeForm<Values, unknown>({
    initial: {
      name: environment?.name ?? '',
      type: environment?.type ?? 'development',
      enabled: true,
      required: environment?.requiredApprovals !== undefined,
      approvals: environment?.requiredApprovals ?? 1,
      nobodySkips: environment?.nobodySkips ?? false,
      offAllowed: environment?.offAllowed ?? false,
    },
    pointers: { approvals: '/requiredApprovals' },
    nameField: 'name',
    change: ({ name, type, enabled, required, approvals, ...review }) => {
      const body = { type: type.trim(), requiredApprovals: required ? approvals : null, ...review }
      return environment
        ? api.put('/api/admin/environments/update/{environmentName}', { path: { environmentName: environment.name }, body })
        : api.post('/api/admin/environments', { body: { name: name.trim(), enabled, ...body } })
    },
    invalidates,
    success: (_, { name }) => (environment ? `Environment ${name} saved` : `Environment ${name.trim()} created`),
    onSuccess: onClose,
  })
  return (
    <FormDialog
      form={form}
      title={environment ? `Environment ${environment.name}` : 'Create environment'}
      submit={environment ? 'Save' : 'Create environment'}
      onClose={onClose}
      disabledReason={me.can(environment ? 'UPDATE_ENVIRONMENT' : 'CREATE_ENVIRONMENT').reason}
    >
      {!environment && (
        <TextField label="Name" required maxLength={100} placeholder="staging" hint="It is part of API tokens and cannot be changed." {...form.field('name')} />
      )}
      <Select
        label="Type"
        choices={typesWith(environment?.type)}
        hint="The console highlights production environments."
        {...form.field('type')}
        // A new one begins with a way to switch off in an emergency.
        onChange={(type) => form.set(environment ? { type } : { type, offAllowed: type === 'production' })}
      />
      {!environment && (
        <Checkbox
          label="Add to new projects"
          hint="Existing projects can add it on their Environments page."
          checked={form.values.enabled}
          onChange={(enabled) => form.set({ enabled })}
        />
      )}
      <fieldset className="field">
        <legend className="field-label">Change requests</legend>
        <Checkbox
          label="No project can switch them off"
          hint="Projects that add this environment later have them on. Where they are off now, they stay off until they are switched on in the project."
          checked={form.values.required}
          onChange={(required) => form.set({ required })}
        />
        {form.values.required && <NumberField label="Approvals at least" min={1} max={10} step={1} {...form.field('approvals')} />}
        <Checkbox
          label="No one can skip them"
          hint="Not even administrators, except in an emergency: with the button Emergency… they give a reason, which the audit log keeps."
          checked={form.values.nobodySkips}
          onChange={(nobodySkips) => form.set({ nobodySkips })}
        />
        <Checkbox
          label="Switching off needs no change request"
          hint="A flag can be switched off at once, unless other flags depend on it."
          checked={form.values.offAllowed}
          onChange={(offAllowed) => form.set({ offAllowed })}
        />
      </fieldset>
    </FormDialog>
  )
}
