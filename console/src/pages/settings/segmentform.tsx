import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useState, type FormEvent } from 'react'
import { api, apiQuery, invalidate, isConflict, useChange, useMe, versionedQuery, type Schema, type Versioned } from '../../api'
import { ConstraintList, describeConstraint, describeConstraints, newConstraint, toRequest, type Constraint } from '../../constraints'
import { FormActions, useForm } from '../../forms'
import { isDraftOf, pendingQuery } from '../../requests/data'
import { addToDraft, useSegmentProtection } from '../../requests/drafts'
import { ProtectionLine } from '../../requests/line'
import { Button, Icons, Notice, Section, Select, TextArea, TextField, toast, useAsked, useAsks } from '../../ui'
import { ConflictDialog } from '../../ui/conflict'
import { Affected, liveUses, type LiveUse } from './live'
import { canChangeSegment, canCreateSegment } from './rights'

type Segment = Schema<'Segment'>

/** What shows segments. */
const affected = ['/api/admin/segments', '/api/admin/context']

interface Values {
  name: string
  description: string
  /** Empty for all projects. */
  project: string
  constraints: Constraint[]
}

const valuesOf = (segment?: Segment): Values => ({
  name: segment?.name ?? '',
  description: segment?.description ?? '',
  project: segment?.project ?? '',
  constraints: segment?.constraints ?? [newConstraint()],
})

/** A segment as the dialog of a conflict compares it: constraints as sentences. */
const readable = ({ name, description, project, constraints }: Segment) => ({
  name,
  description: description ?? '',
  project: project ?? 'all projects',
  constraints: constraints.map((constraint) => describeConstraint(constraint, constraint.values.length)),
})

const bodyOf = (values: Values): Schema<'SegmentRequest'> => ({
  name: values.name.trim(),
  description: values.description || null,
  project: values.project || null,
  constraints: toRequest(values.constraints),
})

const createRequest = (values: Values) => api.request.post('/api/admin/segments', { body: bodyOf(values) })

const updateRequest = ({ body: { id }, etag }: Versioned<Segment>, values: Values) =>
  api.request.put('/api/admin/segments/{id}', { path: { id }, body: bodyOf(values), ifMatch: etag })

const sameConstraints = (a: readonly Constraint[], b: readonly Constraint[]) => JSON.stringify(toRequest(a)) === JSON.stringify(toRequest(b))

interface Save {
  values: Values
  /** The version that they replace; undefined for a new segment. */
  over?: Versioned<Segment>
}

/** Edits a segment, or creates one if none is loaded. A change is refused if another person has changed the segment since it was read. */
export function SegmentForm({ loaded, onClose }: { loaded?: Versioned<Segment>; onClose?: () => void }) {
  const me = useMe()
  const client = useQueryClient()
  const navigate = useNavigate()
  const projects = useQuery(apiQuery('/api/admin/projects'))
  // The version that the form started from. A later one that was read in the background must not be overwritten unseen.
  const [base, setBase] = useState(loaded)
  const [conflict, setConflict] = useState<Versioned<Segment>>()
  const id = base?.body.id
  const read = (segmentId: number) => client.fetchQuery({ ...versionedQuery('/api/admin/segments/{id}', { path: { id: segmentId } }), staleTime: 0 })

  const { places, target } = useSegmentProtection(id)
  const constrains = (values: Values) => base !== undefined && !sameConstraints(values.constraints, base.body.constraints)
  // The name and the description are free.
  const guarded = (values: Values) => base !== undefined && (values.project !== valuesOf(base.body).project || constrains(values))

  const save = useChange<Save, Versioned<Segment>>({
    change: async ({ values, over }) => {
      if (!over) return read((await api.send(createRequest(values))).id)
      await api.send(updateRequest(over, values))
      return read(over.body.id)
    },
    invalidates: affected,
    success: base ? 'Segment saved' : 'Segment created',
    undo: base && (({ over }, saved) => api.send(updateRequest(saved, valuesOf(over?.body)))),
    showsErrors: true,
  })

  const form = useForm({
    initial: valuesOf(base?.body),
    nameField: 'name',
    submit: async (values) => {
      if (target && base && guarded(values)) {
        await addToDraft(client, { ...target, changes: [{ action: 'updateSegment', payload: { id, ...bodyOf(values) } }] })
        return take(base)
      }
      try {
        const saved = await save.mutateAsync({ values, over: base })
        if (!base) return void navigate({ to: '/segments/$id', params: { id: String(saved.body.id) }, replace: true })
        take(saved)
      } catch (error) {
        if (isConflict(error) && id !== undefined) setConflict(await read(id))
        throw error
      }
    },
  })

  const asks = useAsks()
  const [ask, question] = useAsked()
  const look = useChange({ change: (segment: Segment) => liveUses(client, segment, asks) })
  const onSubmit = (event: FormEvent) => {
    if (!base || drafts || !constrains(form.values)) return void form.props.onSubmit(event)
    event.preventDefault()
    if (form.pending || look.isPending) return
    look.mutate(base.body, { onSuccess: (live) => askAbout(base.body, live) })
  }
  // What the question says is looked at again when it is answered.
  const askAbout = (segment: Segment, live: LiveUse[], again = false) => {
    if (!live[0]) return void form.submit()
    const act = () =>
      look.mutate(segment, {
        onSuccess: (now) => (JSON.stringify(now) === JSON.stringify(live) ? void form.submit() : askAbout(segment, now, true)),
      })
    const details = (
      <>
        {again && <Notice kind="warn">Meanwhile the flags that are on and use the segment have changed. Nothing was saved: look at them again.</Notice>}
        <Affected live={live} before={segment.constraints} after={form.values.constraints} />
      </>
    )
    ask({ environment: live[0].environment, title: `Save ${segment.name}?`, action: 'Save segment', act, details })
  }

  const take = (version: Versioned<Segment>) => {
    setBase(version)
    form.reset(valuesOf(version.body))
    setConflict(undefined)
  }
  useEffect(() => {
    if (loaded && loaded.etag !== base?.etag && !form.dirty && !form.pending && !conflict) take(loaded)
  })

  const overwrite = async () => {
    if (!conflict || id === undefined) return
    try {
      take(await save.mutateAsync({ values: form.values, over: conflict }))
    } catch (error) {
      if (isConflict(error)) setConflict(await read(id))
      else toast.error(String(error instanceof Error ? error.message : error))
    }
  }

  const drafts = target !== undefined && guarded(form.values)
  const reason = target ? undefined : (base ? canChangeSegment(me, base.body.project) : canCreateSegment(me)).reason
  const choices = [{ value: '', label: 'All projects' }, ...(projects.data?.projects ?? []).map((project) => ({ value: project.id, label: project.name }))]
  if (form.values.project && !choices.some((choice) => choice.value === form.values.project))
    choices.push({ value: form.values.project, label: form.values.project })
  const constraints = form.field('constraints')
  return (
    <>
      <form {...form.props} onSubmit={onSubmit}>
        {reason && <Notice>{reason}</Notice>}
        <Section>
          <fieldset disabled={Boolean(reason)} className="stack">
            <div className="columns">
              <TextField label="Name" required maxLength={255} placeholder="beta users" {...form.field('name')} />
              <Select label="Project" hint="The project whose flags may use it." choices={choices} {...form.field('project')} />
            </div>
            <TextArea label="Description" rows={2} maxLength={2000} {...form.field('description')} />
          </fieldset>
        </Section>
        <Section title="Constraints" description={constraintsHint(form.values.constraints)}>
          <ConstraintList value={constraints.value} onChange={constraints.onChange} errors={form.errors.byPointer} disabledReason={reason} />
          {form.values.constraints.length === 0 && <Notice kind="warn">Without a constraint everyone is in the segment.</Notice>}
        </Section>
        {places.map(({ project, environment }) => (
          <ProtectionLine key={`${project} ${environment}`} project={project} environment={environment} named />
        ))}
        {target && id !== undefined && <Drafted {...target} id={id} />}
        <FormActions
          form={{ ...form, pending: form.pending || look.isPending }}
          submit={drafts ? 'Add to draft' : base ? 'Save segment' : 'Create segment'}
          disabledReason={reason ?? (base && !form.dirty ? 'Nothing has changed.' : undefined)}
          onCancel={base ? undefined : () => void navigate({ to: '/segments' })}
        >
          {base && form.dirty && <Button onClick={() => take(base)}>Discard changes</Button>}
          {onClose && !form.dirty && <Button onClick={onClose}>Close</Button>}
        </FormActions>
      </form>
      {question}
      {conflict && base && (
        <ConflictDialog
          open
          onClose={() => setConflict(undefined)}
          noun="segment"
          before={readable(base.body)}
          after={readable(conflict.body)}
          onReload={() => take(conflict)}
          onOverwrite={() => void overwrite()}
          pending={save.isPending}
        />
      )}
    </>
  )
}

// The draft may have another state of the segment than the form.
function Drafted({ project, environment, id }: { project: string; environment: string; id: number }) {
  const me = useMe().user?.id
  const draft = useQuery(pendingQuery(project)).data?.find(
    (one) => isDraftOf(one, me) && one.environment === environment && one.segments.some(({ segmentId }) => segmentId === id),
  )
  if (!draft) return null
  const params = { projectId: project, requestId: String(draft.id) }
  return (
    <Notice kind="warn">
      <Link to="/projects/$projectId/change-requests/$requestId" params={params}>
        Your draft
      </Link>{' '}
      already changes this segment, and the form has the present state. What you add replaces what the draft has.
    </Notice>
  )
}

function constraintsHint(constraints: readonly Constraint[]): string {
  if (!constraints.some(({ contextName }) => contextName)) return 'All of them must hold.'
  const text = `A user is in the segment if ${describeConstraints(constraints)}`
  return text.endsWith('…') ? text : `${text}.`
}

/** Buttons of a segment that is shown: edit and delete. */
export function SegmentActions({ loaded: { body, etag }, onEdit }: { loaded: Versioned<Segment>; onEdit?: () => void }) {
  const me = useMe()
  const { target } = useSegmentProtection(body.id)
  const reason = target ? undefined : canChangeSegment(me, body.project).reason
  return (
    <>
      <DeleteButton segment={body} etag={etag} reason={reason} target={target} />
      {onEdit && (
        <Button variant="primary" icon={<Icons.Edit />} disabledReason={reason} onClick={onEdit}>
          Edit
        </Button>
      )}
    </>
  )
}

interface DeleteButtonProps {
  segment: Segment
  etag: string | null
  reason?: string
  /** The environment in whose draft the deletion belongs. */
  target?: { project: string; environment: string }
}

function DeleteButton({ segment, etag, reason, target }: DeleteButtonProps) {
  const navigate = useNavigate()
  const client = useQueryClient()
  const refresh = () => invalidate(client, affected)
  const remove = useChange({
    change: () => api.delete('/api/admin/segments/{id}', { path: { id: segment.id }, ifMatch: etag }),
    success: `Segment ${segment.name} deleted`,
    undo: async () => {
      await api.post('/api/admin/segments', { body: bodyOf(valuesOf(segment)) })
      await refresh()
    },
    onSuccess: async () => {
      await navigate({ to: '/segments' })
      // The page of the deleted segment must not read it again.
      client.removeQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith('/api/admin/segments/{id}') })
      await refresh()
    },
  })
  const draft = useChange({
    change: (into: NonNullable<typeof target>) => addToDraft(client, { ...into, changes: [{ action: 'deleteSegment', payload: { id: segment.id } }] }),
  })
  return (
    <Button
      variant="quiet"
      icon={<Icons.Trash />}
      disabledReason={reason}
      pending={remove.isPending || draft.isPending}
      onClick={() => (target ? draft.mutate(target) : remove.mutate())}
    >
      Delete segment
    </Button>
  )
}
