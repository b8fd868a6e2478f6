import { useQuery } from '@tanstack/react-query'
import { api, apiQuery, useMe, type ApiRequest, type Schema } from '../../api'
import { FormDialog, useChangeForm } from '../../forms'
import { RadioGroup, Select, TextField, environmentChoice } from '../../ui'
import { MultiCombobox } from '../../ui/combobox'
import { expiryOf, periods } from './expiry'
import { creatableTypes } from './tokenrights'

interface TokenDialogProps {
  project?: string
  create: (body: Schema<'CreateTokenRequest'>) => ApiRequest<Schema<'ApiToken'>>
  invalidates: string[]
  onClose: () => void
  onCreated: (token: Schema<'ApiToken'>) => void
}

interface Values {
  tokenName: string
  type: string
  environment: string
  projects: string[]
  days: string
}

const hints = {
  client: { label: 'For a server', hint: 'The SDK reads all flags and decides itself. The token must stay secret.' },
  frontend: { label: 'For a browser or an app', hint: 'Guidon decides for each user. The token may be public.' },
  admin: { label: 'Admin', hint: 'Can do everything in the API, in all projects. Prefer a service account with a role.' },
}

const forever = [{ value: '', label: 'Forever' }, ...periods]

// The token of an app on phones cannot be replaced in a year.
const daysOf = (type?: string) => (type === 'frontend' ? '' : '365')

/** Creates an API token. */
export function TokenDialog({ project, create, invalidates, onClose, onCreated }: TokenDialogProps) {
  const me = useMe()
  const types = creatableTypes(me, project)
  const environments = useQuery({ ...apiQuery('/api/admin/environments'), enabled: !project })
  const ofProject = useQuery({ ...apiQuery('/api/admin/environments/project/{projectId}', { path: { projectId: project ?? '' } }), enabled: Boolean(project) })
  const projects = useQuery({ ...apiQuery('/api/admin/projects'), enabled: !project })
  const usable = project ? (ofProject.data?.environments ?? []) : (environments.data?.environments ?? []).filter(({ enabled }) => enabled)
  const first = usable[0]?.name
  const form = useChangeForm({
    initial: { tokenName: '', type: types[0] ?? 'client', environment: '', projects: [] as string[], days: daysOf(types[0]) },
    nameField: 'tokenName',
    pointers: { days: '/expiresAt' },
    change: (values) => api.send(create(bodyOf(values, values.environment || first || 'development', project))),
    invalidates,
    onSuccess: onCreated,
  })
  const admin = form.values.type === 'admin'
  const environment = form.field('environment')
  return (
    <FormDialog
      form={form}
      title="Create API token"
      description={project && `It can read the flags of project ${project} only.`}
      submit="Create token"
      onClose={onClose}
    >
      <TextField label="Name" required maxLength={255} placeholder="shop backend" {...form.field('tokenName')} />
      <RadioGroup
        label="What it is for"
        choices={types.map((value) => ({ value, ...hints[value] }))}
        {...form.field('type')}
        onChange={(type) => form.set({ type, days: daysOf(type) })}
      />
      {!admin && (
        <Select
          label="Environment"
          choices={usable.map(environmentChoice)}
          value={environment.value || first || ''}
          onChange={environment.onChange}
          error={environment.error}
        />
      )}
      {!admin && !project && (
        <MultiCombobox
          label="Projects"
          hint="Without any, the token is for all projects, including future ones."
          placeholder={form.values.projects.length === 0 ? 'All projects' : undefined}
          choices={(projects.data?.projects ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          {...form.field('projects')}
        />
      )}
      <Select label="Valid" choices={forever} {...form.field('days')} />
    </FormDialog>
  )
}

function bodyOf(values: Values, environment: string, project?: string): Schema<'CreateTokenRequest'> {
  const common = { tokenName: values.tokenName.trim(), type: values.type, expiresAt: expiryOf(values.days) }
  if (values.type === 'admin') return common
  if (project) return { ...common, environment }
  return { ...common, environment, projects: values.projects.length > 0 ? values.projects : ['*'] }
}
