import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api, apiQuery, invalidate, useChange, useMe, type Schema } from '../../api'
import { FormActions, useForm } from '../../forms'
import { Button, ConfirmDialog, Loaded, Notice, NumberField, RadioGroup, Section, Select, TextArea, TextField, plural } from '../../ui'
import { LinkTemplates } from './linktemplates'
import { settingsOf, settingsRequest, type Settings } from './settingsform'
import { useStickinessChoices } from './stickiness'
import { modesFor } from './view'

type Project = Schema<'ProjectSummary'>

/** The settings of a project, and its deletion. */
export default function SettingsTab() {
  const { projectId } = useParams({ from: '/projects/$projectId' })
  const project = useQuery(apiQuery('/api/admin/projects/{projectId}/overview', { path: { projectId } }))
  return (
    <Loaded query={project}>
      {(data) => (
        <>
          {/* A project in the address that changes needs a new form. */}
          <SettingsForm key={projectId} projectId={projectId} project={data} />
          <DeleteProject projectId={projectId} project={data} />
        </>
      )}
    </Loaded>
  )
}

function SettingsForm({ projectId, project }: { projectId: string; project: Project }) {
  const { can } = useMe()
  const requestOf = (values: Settings) => api.request.put('/api/admin/projects/{projectId}', { path: { projectId }, body: settingsRequest(values) })
  const save = useChange({
    change: ({ values }: { values: Settings; before: Settings }) => api.send(requestOf(values)),
    invalidates: ['/api/admin/projects'],
    success: 'The settings are saved.',
    undo: async ({ before }) => {
      await api.send(requestOf(before))
      form.reset(before)
    },
    showsErrors: true,
  })
  const form = useForm({
    initial: settingsOf(project),
    pointers: {
      pattern: '/featureNaming/pattern',
      example: '/featureNaming/example',
      convention: '/featureNaming/description',
      links: '/linkTemplates',
      limit: '/featureLimit',
      stickiness: '/defaultStickiness',
    },
    submit: (values) => save.mutateAsync({ values, before: settingsOf(project) }),
  })
  const reason = can('UPDATE_PROJECT', projectId).reason
  const disabledReason = reason && 'Read only.'
  const stickinesses = useStickinessChoices(form.values.stickiness)
  return (
    <form {...form.props}>
      {reason && <Notice>{reason}</Notice>}
      <Section title="General">
        <TextField label="Name" required maxLength={255} disabledReason={disabledReason} {...form.field('name')} />
        <TextArea label="Description" maxLength={2000} disabledReason={disabledReason} {...form.field('description')} />
        <RadioGroup label="Collaboration mode" choices={modesFor(project.mode)} disabledReason={disabledReason} {...form.field('mode')} />
        <p className="soft small">
          The mode says who can propose change requests. Everything else depends on{' '}
          <Link to="/projects/$projectId/access" params={{ projectId }}>
            roles
          </Link>
          .
        </p>
      </Section>
      <Section title="Flags" description="The limit and the naming pattern hold for new, cloned and imported flags. Flags that exist keep their names.">
        <div className="columns">
          <Select
            label="Default stickiness"
            choices={stickinesses}
            hint="Suggested for new rollouts."
            disabledReason={disabledReason}
            {...form.field('stickiness')}
          />
          <NumberField
            label="Limit of active flags"
            min={0}
            step={1}
            hint="Left empty, there is no limit."
            disabledReason={disabledReason}
            {...form.field('limit')}
          />
        </div>
        <div className="columns">
          <TextField
            label="Naming pattern"
            className="mono"
            maxLength={255}
            placeholder="shop-[a-z-]+"
            hint="A regular expression that the whole name must match."
            disabledReason={disabledReason}
            {...form.field('pattern')}
          />
          <TextField
            label="Example name"
            className="mono"
            maxLength={255}
            placeholder="shop-new-checkout"
            disabledReason={disabledReason}
            {...form.field('example')}
          />
        </div>
        <TextArea label="Naming convention in words" rows={2} maxLength={2000} disabledReason={disabledReason} {...form.field('convention')} />
      </Section>
      <Section title="Links of flags" description="Each flag of the project shows these links, for example to an issue or a dashboard.">
        <LinkTemplates value={form.values.links} onChange={(links) => form.set({ links })} errorAt={form.errorAt} disabledReason={disabledReason} />
      </Section>
      <FormActions form={form} submit="Save settings" disabledReason={reason ?? (form.dirty ? undefined : 'Nothing has changed.')}>
        {form.dirty && <Button onClick={() => form.reset(settingsOf(project))}>Discard changes</Button>}
      </FormActions>
    </form>
  )
}

function DeleteProject({ projectId, project }: { projectId: string; project: Project }) {
  const [asking, setAsking] = useState(false)
  const { can } = useMe()
  const navigate = useNavigate()
  const client = useQueryClient()
  const flags = project.featureTypeCounts.reduce((sum, { count }) => sum + count, 0)
  // The pages of the project are left before anything is read again: they would read what is gone.
  const leave = async () => {
    await navigate({ to: '/projects' })
    await invalidate(client, ['/api/admin/projects', '/api/admin/user'])
  }
  const remove = useChange({
    change: () => api.delete('/api/admin/projects/{projectId}', { path: { projectId } }),
    success: `Project ${project.name} is deleted.`,
    showsErrors: true,
    onSuccess: () => void leave(),
  })
  const blocked =
    projectId === 'default'
      ? 'The default project cannot be deleted.'
      : flags > 0
        ? `The project has ${plural(flags, 'active flag')}. Archive or move ${flags === 1 ? 'it' : 'them'} first.`
        : undefined
  return (
    <Section
      danger
      title="Delete project"
      description="Deletes the project with its members, environments and tokens. Applications with these tokens no longer get flags. The names of archived flags stay reserved."
    >
      <div>
        <Button variant="danger" disabledReason={can('DELETE_PROJECT', projectId).reason ?? blocked} onClick={() => setAsking(true)}>
          Delete project
        </Button>
      </div>
      {blocked && <p className="soft small">{blocked}</p>}
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={`Delete ${project.name}?`}
        description="This cannot be undone."
        action="Delete project"
        typeToConfirm={projectId}
        onConfirm={() => remove.mutateAsync()}
      />
    </Section>
  )
}
