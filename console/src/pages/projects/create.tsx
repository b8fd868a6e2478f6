import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, apiQuery, type Schema, useMe } from '../../api'
import { FormActions, useChangeForm } from '../../forms'
import { Checkbox, Dialog, isProduction, Loaded, ProductionMark, TextArea, TextField, toast } from '../../ui'

/** Asks for what a new project needs, creates it and opens it. */
export function CreateProjectDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const environments = useQuery({ ...apiQuery('/api/admin/environments'), enabled: open })
  const { user } = useMe()
  return (
    <Dialog open={open} onClose={onClose} title="Create project" description={user ? 'You become its owner.' : undefined}>
      <Loaded query={environments}>{(data) => <CreateForm environments={data.environments} onClose={onClose} />}</Loaded>
    </Dialog>
  )
}

interface Values {
  name: string
  id: string
  description: string
  environments: string[]
}

function requestOf({ name, id, ...rest }: Values) {
  const body = { ...rest, name: name.trim(), id: id.trim() || undefined } as Schema<'CreateProjectRequest'>
  return api.request.post('/api/admin/projects', { body })
}

function CreateForm({ environments, onClose }: { environments: Schema<'CountedEnvironment'>[]; onClose: () => void }) {
  const navigate = useNavigate()
  const enabled = environments.filter((environment) => environment.enabled).map((environment) => environment.name)
  const form = useChangeForm({
    initial: { name: '', id: '', description: '', environments: enabled },
    change: (values: Values) => api.send(requestOf(values)),
    invalidates: ['/api/admin/projects', '/api/admin/user'],
    onSuccess: (project) => {
      toast.success(`Project ${project.name} created`)
      onClose()
      void navigate({ to: '/projects/$projectId', params: { projectId: project.id } })
    },
    nameField: 'id',
  })
  const chosen = form.values.environments
  const toggle = (name: string, on: boolean) => form.set({ environments: on ? [...chosen, name] : chosen.filter((one) => one !== name) })
  return (
    <form {...form.props}>
      <TextField label="Name" required autoFocus maxLength={255} {...form.field('name')} />
      <TextField
        label="Id"
        maxLength={100}
        hint="Appears in links, tokens and the API, and cannot be changed later. Left empty, it is derived from the name."
        {...form.field('id')}
      />
      <TextArea label="Description" maxLength={2000} rows={2} {...form.field('description')} />
      <fieldset className="field">
        <legend className="field-label">Environments</legend>
        {environments.map(({ name, type }) => (
          <Checkbox
            key={name}
            label={
              <>
                {name} {isProduction({ type }) ? <ProductionMark type={type} /> : type !== name && <span className="soft">({type})</span>}
              </>
            }
            checked={chosen.includes(name)}
            onChange={(on) => toggle(name, on)}
          />
        ))}
        <p className="field-hint">A new flag is off in all of them. You can add and remove environments later.</p>
        {form.errorAt('/environments') && <p className="field-error">{form.errorAt('/environments')}</p>}
      </fieldset>
      <FormActions form={form} submit="Create project" onCancel={onClose} />
    </form>
  )
}
