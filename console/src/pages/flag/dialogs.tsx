import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, apiQuery, type Schema, useChange, useMe } from '../../api'
import { FormDialog, useChangeForm, useForm } from '../../forms'
import { SkipsFreezes } from '../../requests/freeze'
import { Checkbox, Notice, RadioGroup, Select, TextField } from '../../ui'
import { OnInProduction } from '../flags/archivedialog'
import { flagPath, touched, type Flag } from './data'

interface DialogProps {
  flag: Flag
  onClose: () => void
}

/** Creates a copy of the flag under another name. */
export function CloneDialog({ flag, onClose }: DialogProps) {
  const navigate = useNavigate()
  const path = { projectId: flag.project, featureName: flag.name }
  const requestOf = (body: Schema<'CloneFeatureRequest'>) => api.request.post(`${flagPath}/clone`, { path, body })
  const trimmed = (body: Schema<'CloneFeatureRequest'>) => ({ ...body, name: body.name.trim() })
  const clone = useChange({
    change: (body: Schema<'CloneFeatureRequest'>) => api.send(requestOf(body)),
    invalidates: touched,
    success: (_, body) => `Flag ${body.name} created`,
    showsErrors: true,
    onSuccess: (_, body) => {
      onClose()
      void navigate({ to: '/projects/$projectId/flags/$flag', params: { projectId: flag.project, flag: body.name } })
    },
  })
  const form = useForm({
    initial: { name: `${flag.name}-2`, replaceGroupId: true },
    submit: (values) => clone.mutateAsync(trimmed(values)),
    nameField: 'name',
  })
  return (
    <FormDialog
      form={form}
      submit="Clone flag"
      onClose={onClose}
      title={`Clone ${flag.name}`}
      description="The new flag gets the same description, type, strategies, variants and dependencies, but no tags. It is off in all environments."
    >
      <TextField
        label="Name of the new flag"
        required
        maxLength={100}
        {...form.field('name')}
        hint="Letters, digits and . _ ~ -. A name can be used only once, and cannot be changed."
      />
      <Checkbox
        label="Select different users than the original flag"
        hint="Gradual rollouts use the new name as their group. Without this, the same users get both flags."
        checked={form.values.replaceGroupId}
        onChange={(replaceGroupId) => form.set({ replaceGroupId })}
      />
    </FormDialog>
  )
}

/** Moves the flag to another project. */
export function MoveDialog({ flag, onClose }: DialogProps) {
  const navigate = useNavigate()
  const { can } = useMe()
  const projects = useQuery(apiQuery('/api/admin/projects'))
  const requestOf = (newProjectId: string, projectId = flag.project) =>
    api.request.post(`${flagPath}/changeProject`, { path: { projectId, featureName: flag.name }, body: { newProjectId } })
  const goTo = (projectId: string) => navigate({ to: '/projects/$projectId/flags/$flag', params: { projectId, flag: flag.name } })
  const move = useChange({
    change: (newProjectId: string) => api.send(requestOf(newProjectId)),
    invalidates: touched,
    success: (_, project) => `${flag.name} moved to ${project}`,
    undo: async (project) => {
      await api.send(requestOf(flag.project, project))
      await goTo(flag.project)
    },
    showsErrors: true,
    onSuccess: (_, project) => {
      onClose()
      void goTo(project)
    },
  })
  const form = useForm({
    initial: { newProjectId: '' },
    submit: (values) => move.mutateAsync(values.newProjectId),
    check: (values) => ({ newProjectId: values.newProjectId ? '' : 'Choose a project.' }),
  })
  const others = (projects.data?.projects ?? []).filter((project) => project.id !== flag.project)
  const choices = others.map((project) => {
    const allowed = can('CREATE_FEATURE', project.id).allowed
    return { value: project.id, label: project.name + (allowed ? '' : ' (you cannot create flags there)'), disabled: !allowed }
  })
  return (
    <FormDialog
      form={form}
      submit="Move flag"
      onClose={onClose}
      title={`Move ${flag.name}`}
      description="Applications with tokens of the old project no longer get the flag, unless their tokens include the new project."
    >
      {projects.data && others.length === 0 && <Notice>There is no other project.</Notice>}
      <Select
        label="New project"
        required
        choices={[{ value: '', label: 'Choose a project' }, ...choices]}
        {...form.field('newProjectId')}
        hint="It needs every environment in which the flag is on. A flag with dependencies cannot be moved."
      />
      <OnInProduction flags={[flag]} />
      {[flag.project, form.values.newProjectId].filter(Boolean).map((project) => (
        <SkipsFreezes key={project} named project={project} flags={[flag]} />
      ))}
    </FormDialog>
  )
}

type Outcome = NonNullable<Schema<'CompleteRequest'>['status']>

/** Marks the flag as completed, with its outcome. */
export function CompleteDialog({ flag, onClose }: DialogProps) {
  const requestOf = ({ status, statusValue }: { status: Outcome; statusValue: string }) =>
    api.request.post(`${flagPath}/lifecycle/complete`, {
      path: { projectId: flag.project, featureName: flag.name },
      body: status === 'kept-with-variant' ? { status, statusValue } : { status },
    })
  const variants = [
    ...new Set(
      flag.environments
        .flatMap((environment) => [...environment.variants, ...environment.strategies.flatMap((strategy) => strategy.variants)])
        .map((variant) => variant.name),
    ),
  ]
  const form = useChangeForm<{ status: Outcome; statusValue: string }, unknown>({
    initial: { status: 'kept', statusValue: variants[0] ?? '' },
    change: (values: { status: Outcome; statusValue: string }) => api.send(requestOf(values)),
    invalidates: touched,
    success: `${flag.name} is marked as completed`,
    undo: () => api.post(`${flagPath}/lifecycle/uncomplete`, { path: { projectId: flag.project, featureName: flag.name } }),
    onSuccess: onClose,
  })
  const outcomes: { value: Outcome; label: string; hint: string }[] = [
    { value: 'kept', label: 'The feature was kept', hint: 'Everyone gets it.' },
    ...(variants.length ? [{ value: 'kept-with-variant' as const, label: 'The feature was kept with a variant', hint: 'Everyone gets that variant.' }] : []),
    { value: 'discarded', label: 'The feature was discarded', hint: 'It is removed from the code.' },
  ]
  return (
    <FormDialog
      form={form}
      submit="Mark as completed"
      onClose={onClose}
      title={`Mark ${flag.name} as completed`}
      description="This records that the work on the flag is done. Applications are not affected."
    >
      <RadioGroup label="Outcome" choices={outcomes} {...form.field('status')} />
      {form.values.status === 'kept-with-variant' && (
        <Select label="Variant" choices={variants.map((name) => ({ value: name, label: name }))} {...form.field('statusValue')} />
      )}
    </FormDialog>
  )
}
