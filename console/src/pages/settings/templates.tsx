import { useQuery } from '@tanstack/react-query'
import { api, apiQuery, useChange, useMe } from '../../api'
import { FormActions, useChangeForm } from '../../forms'
import { Page } from '../../shell'
import { Badge, DateTime, Dialog, ErrorState, Icons, Select, TextArea, TextField, useConfirm } from '../../ui'
import { PlanFields } from '../flag/plan/fields'
import { draftOf, planProblems, planRequest, readyTemplates, type PlanDraft, type Template } from '../flag/plan/model'
import { Create, List, deleteEntry, editEntry, useEdited } from './list'

const path = '/api/admin/release-plan-templates'
const one = `${path}/{templateId}` as const

/** The release templates of the service. */
export default function TemplatesPage() {
  const me = useMe()
  const templates = useQuery(apiQuery(path))
  const reason = me.can('RELEASE_PLAN_TEMPLATE_UPDATE').reason
  const removeReason = me.can('RELEASE_PLAN_TEMPLATE_DELETE').reason
  const edited = useEdited(
    templates.data,
    ({ id }) => id,
    (close, template) => (template ? <StoredTemplate id={template.id} onClose={close} reason={reason} /> : <TemplateSheet onClose={close} />),
  )
  const archive = useChange({
    change: ({ id }: Template) => api.post(`${path}/archive/{templateId}`, { path: { templateId: id } }),
    invalidates: [path],
    success: (_, { name }) => `Template ${name} archived`,
  })
  const remove = useChange({
    change: ({ id }: Template) => api.delete(one, { path: { templateId: id } }),
    invalidates: [path],
    success: (_, { name }) => `Template ${name} deleted`,
    showsErrors: true,
  })
  const [askArchive, archiving] = useConfirm((template: Template) => ({
    title: `Archive template ${template.name}?`,
    description: 'New plans cannot use it any more. Plans that were made of it go on.',
    action: 'Archive template',
    onConfirm: () => archive.mutateAsync(template),
  }))
  const [askRemove, removing] = useConfirm((template: Template) => ({
    title: `Delete template ${template.name}?`,
    description: 'Plans that were made of it go on. This cannot be undone.',
    action: 'Delete template',
    onConfirm: () => remove.mutateAsync(template),
  }))
  const create = (
    <Create reason={me.can('RELEASE_PLAN_TEMPLATE_CREATE').reason} onClick={edited.create}>
      Create template
    </Create>
  )
  return (
    <Page title="Release templates" description="Milestones that every flag can be rolled out by." actions={create}>
      <List
        noun="template"
        query={templates}
        rows={templates.data}
        rowKey={({ id }) => id}
        texts={({ name, description }) => [name, description]}
        filters={[
          {
            name: 'state',
            label: 'State',
            choices: [
              { value: 'active', label: 'Active' },
              { value: 'archived', label: 'Archived' },
            ],
          },
        ]}
        value={({ archivedAt }) => (archivedAt ? 'archived' : 'active')}
        nameOf={({ name }) => name}
        columns={[
          {
            id: 'name',
            header: 'Name',
            width: '30%',
            cell: (template) => (
              <span className="row chips cell-name">
                <button type="button" className="link-button strong break" onClick={() => edited.edit(template)}>
                  {template.name}
                </button>
                {template.archivedAt && <Badge>Archived</Badge>}
              </span>
            ),
          },
          { id: 'milestones', header: 'Milestones', cell: ({ milestones }) => <span className="break">{milestones.map(({ name }) => name).join(' → ')}</span> },
          { id: 'created', header: 'Created', width: '120px', cell: ({ createdAt }) => <DateTime value={createdAt} /> },
        ]}
        actions={(template) => [
          editEntry(() => edited.edit(template), reason),
          ...(template.archivedAt ? [] : [{ label: 'Archive', icon: <Icons.Archive />, disabledReason: removeReason, onSelect: () => askArchive(template) }]),
          deleteEntry(() => askRemove(template), removeReason),
        ]}
        icon={<Icons.Layers />}
        empty="Canary and Daily are always there. Create a template for how your team releases."
      />
      {edited.dialog}
      {archiving}
      {removing}
    </Page>
  )
}

interface SheetProps {
  template?: Template
  onClose: () => void
  reason?: string
}

// The list has no strategies.
function StoredTemplate({ id, ...rest }: { id: string } & SheetProps) {
  const query = useQuery({ ...apiQuery(one, { path: { templateId: id } }), gcTime: 0, staleTime: Infinity })
  if (query.data) return <TemplateSheet template={query.data} {...rest} />
  if (!query.error) return null
  return (
    <Dialog open onClose={rest.onClose} title="Release template">
      <ErrorState error={query.error} onRetry={() => void query.refetch()} />
    </Dialog>
  )
}

function TemplateSheet({ template, onClose, reason }: SheetProps) {
  const form = useChangeForm<PlanDraft & { from: string }, unknown>({
    initial: template ? { ...draftOf(template), from: '' } : { ...readyTemplates[0]!.draft(), name: '', from: readyTemplates[0]!.name },
    nameField: 'name',
    check: (values) => ({ ...planProblems(values), name: values.name.trim() ? '' : 'Enter a name.' }),
    change: ({ from: _, ...draft }) => {
      const body = planRequest(draft) as never
      return template ? api.put(one, { path: { templateId: template.id }, body }) : api.post(path, { body })
    },
    invalidates: [path],
    success: (_, { name }) => `Template ${name.trim()} ${template ? 'saved' : 'created'}`,
    onSuccess: onClose,
  })
  const { values } = form
  return (
    <Dialog open sheet onClose={onClose} title={template ? `Template ${template.name}` : 'Create release template'}>
      <form {...form.props}>
        <div className={template ? undefined : 'columns'}>
          <TextField label="Name" required maxLength={255} placeholder="Careful" {...form.field('name')} />
          {!template && (
            <Select
              label="Begin with"
              choices={readyTemplates.map(({ name, note }) => ({ value: name, label: name, note }))}
              value={values.from}
              onChange={(from) => form.set({ milestones: readyTemplates.find((ready) => ready.name === from)!.draft().milestones, from })}
            />
          )}
        </div>
        <TextArea label="Description" rows={2} maxLength={2000} {...form.field('description')} />
        <PlanFields values={values} onChange={form.set} errorAt={form.errorAt} />
        <FormActions form={form} submit={template ? 'Save template' : 'Create template'} onCancel={onClose} disabledReason={reason} />
      </form>
    </Dialog>
  )
}
