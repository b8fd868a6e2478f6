import { api, useChange, useMe, type ApiRequest, type Schema } from '../../api'
import { FormActions, useForm } from '../../forms'
import { Checkbox, Dialog, TextField } from '../../ui'
import { SuggestField } from '../../ui/suggest'

interface EnvironmentDialogProps {
  environment?: Schema<'CountedEnvironment'>
  onClose: () => void
  invalidates: string[]
}

interface Values {
  name: string
  type: string
  enabled: boolean
}

const types = ['development', 'test', 'preproduction', 'production'].map((value) => ({ value }))

/** Creates an environment, or changes the type of one. */
export function EnvironmentDialog({ environment, onClose, invalidates }: EnvironmentDialogProps) {
  const me = useMe()
  const requestOf = ({ name, type, enabled }: Values): ApiRequest =>
    environment
      ? api.request.put('/api/admin/environments/update/{environmentName}', { path: { environmentName: environment.name }, body: { type: type.trim() } })
      : api.request.post('/api/admin/environments', { body: { name: name.trim(), type: type.trim(), enabled } })
  const save = useChange({
    change: (values: Values) => api.send(requestOf(values)),
    invalidates,
    success: (_, { name }) => (environment ? `Environment ${name} saved` : `Environment ${name.trim()} created`),
    onSuccess: onClose,
    showsErrors: true,
  })
  const form = useForm({
    initial: { name: environment?.name ?? '', type: environment?.type ?? 'development', enabled: true },
    nameField: 'name',
    submit: (values) => save.mutateAsync(values),
    requests: (values) => [requestOf(values)],
  })
  return (
    <Dialog open onClose={onClose} title={environment ? `Environment ${environment.name}` : 'Create environment'}>
      <form {...form.props}>
        {!environment && (
          <TextField
            label="Name"
            required
            maxLength={100}
            placeholder="staging"
            hint="It is part of API tokens and cannot be changed."
            {...form.field('name')}
          />
        )}
        <SuggestField
          label="Type"
          required
          suggestions={types}
          maxLength={100}
          hint="Any word. The console highlights production environments."
          {...form.field('type')}
          onEnter={() => void form.submit()}
        />
        {!environment && (
          <Checkbox
            label="Add to new projects"
            hint="Existing projects can add it on their Environments page."
            checked={form.values.enabled}
            onChange={(enabled) => form.set({ enabled })}
          />
        )}
        <FormActions
          form={form}
          submit={environment ? 'Save' : 'Create environment'}
          onCancel={onClose}
          disabledReason={me.can(environment ? 'UPDATE_ENVIRONMENT' : 'CREATE_ENVIRONMENT').reason}
        />
      </form>
    </Dialog>
  )
}
