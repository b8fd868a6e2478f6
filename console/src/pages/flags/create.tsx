import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { api, ApiError, errorText, type Schema } from '../../api'
import { FormDialog, useChangeForm } from '../../forms'
import { Checkbox, Field, Icons, Select, TextArea, toast, type Choice } from '../../ui'
import { TagPicker } from './tagpicker'
import { TypeField } from './typefield'
import { projectOverview } from './useswitch'

interface CreateFlagDialogProps {
  projectId: string
  /** The projects to choose from, if the page is not of one. */
  projects?: readonly Choice[]
  onProject?: (id: string) => void
  onClose: () => void
}

interface Values {
  name: string
  type: Schema<'CreateFeatureRequest'>['type']
  description: string
  impressionData: boolean
  tags: Schema<'Tag'>[]
}

const initial: Values = { name: '', type: 'release', description: '', impressionData: false, tags: [] }

const createRequest = (projectId: string, { tags, ...body }: Values) =>
  api.request.post('/api/admin/projects/{projectId}/features', { path: { projectId }, body: { ...body, name: body.name.trim() } })

const tagsRequest = (featureName: string, tags: Values['tags']) =>
  api.request.put('/api/admin/features/{featureName}/tags', { path: { featureName }, body: { addedTags: tags, removedTags: [] } })

/** Creates a flag and opens it. */
export function CreateFlagDialog({ projectId, projects, onProject, onClose }: CreateFlagDialogProps) {
  const naming = useQuery(projectOverview(projectId)).data?.featureNaming
  const navigate = useNavigate()
  const form = useChangeForm({
    initial,
    change: async (values: Values) => {
      const created = await api.send(createRequest(projectId, values))
      // The flag exists: what is wrong with its tags must not look as if it did not.
      if (values.tags.length > 0) {
        await api
          .send(tagsRequest(created.name, values.tags))
          .catch((error: unknown) => toast.error(`${created.name} was created without its tags. ${errorText(error)}`))
      }
      return created
    },
    invalidates: ['/api/admin/projects', '/api/admin/search', '/api/admin/tags'],
    success: (created) => `${created.name} was created. It is off in all environments.`,
    onSuccess: (created) => {
      onClose()
      void navigate({ to: '/projects/$projectId/flags/$flag', params: { projectId, flag: created.name } })
    },
    nameField: 'name',
  })
  const name = form.field('name')
  const check = useNameCheck(projectId, form.values.name.trim())
  const { tags, type } = form.values
  return (
    <FormDialog form={form} submit="Create flag" onClose={onClose} title="Create flag">
      <Field label="Name" required error={name.error ?? check.error} hint={!check.error && <NameHint naming={naming} free={check.free} />}>
        {(control) => (
          <input
            {...control}
            autoFocus
            autoComplete="off"
            spellCheck={false}
            className="input mono"
            maxLength={100}
            placeholder="new-checkout"
            value={name.value}
            onChange={(event) => name.onChange(event.target.value)}
          />
        )}
      </Field>
      {projects && onProject && <Select label="Project" choices={projects} value={projectId} onChange={onProject} />}
      <TypeField value={type ?? 'release'} error={form.errorAt('/type')} onChange={(type) => form.set({ type })} />
      <TextArea label="Description" rows={2} maxLength={2000} {...form.field('description')} />
      <TagPicker label="Tags" tags={tags} onChange={(next) => form.set({ tags: next })} />
      <Checkbox
        label="Impression data"
        hint="SDKs emit an event for each evaluation of the flag, for example for an analytics tool."
        checked={form.values.impressionData}
        onChange={(impressionData) => form.set({ impressionData })}
      />
    </FormDialog>
  )
}

function NameHint({ naming, free }: { naming?: Schema<'Naming'>; free: boolean }) {
  if (free) {
    return (
      <span className="row">
        <Icons.Check /> The name is free.
      </span>
    )
  }
  if (naming?.description) return naming.description
  return naming?.pattern ? (
    <>
      Pattern: <code>{naming.pattern}</code>
      {naming.example && `, such as ${naming.example}`}
    </>
  ) : (
    'Letters, digits, dots, hyphens, underscores and tildes. The name cannot be changed or used again later.'
  )
}

const checkDelay = 300

// What the server says about the name, when typing pauses.
function useNameCheck(projectId: string, name: string) {
  const [checked, setChecked] = useState({ name: '', error: undefined as string | undefined })
  useEffect(() => {
    if (!name) return
    const abort = new AbortController()
    const check = async () => {
      try {
        await api.post('/api/admin/features/validate', { body: { name, projectId }, signal: abort.signal })
        setChecked({ name, error: undefined })
      } catch (error) {
        // Other errors appear when the form is sent.
        if (error instanceof ApiError && (error.status === 400 || error.status === 409)) setChecked({ name, error: nameError(error) })
      }
    }
    const timer = setTimeout(() => void check(), checkDelay)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [projectId, name])
  const current = name !== '' && checked.name === name
  return { error: current ? checked.error : undefined, free: current && !checked.error }
}

function nameError(error: ApiError): string {
  const details = error.details.map(({ message }) => message).join(' ')
  const text = details || error.message
  return errorText(new Error(text))
}
