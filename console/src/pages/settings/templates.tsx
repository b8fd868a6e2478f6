import { useQuery } from '@tanstack/react-query'
import { api, apiQuery, useChange, useMe } from '../../api'
import { FormActions, useChangeForm } from '../../forms'
import { Page } from '../../shell'
import { Badge, Button, DateTime, Dialog, ErrorState, Icons, TextArea, TextField, useConfirm } from '../../ui'
import { PlanFields } from '../flag/plan/fields'
import { draftOf, planProblems, planRequest, readyTemplates, type PlanDraft, type Template } from '../flag/plan/model'
import { Create, List, deleteEntry, editEntry, useEdited } from './list'

const path = '/api/admin/release-plan-templates'
const one = `${path}/{templateId}` as const

// The templates that every service has, as rows.
const ready = readyTemplates.map(
  ({ name, each, draft }) =>
    ({ ...planRequest({ ...draft(), description: each }), id: `ready-${name}`, createdAt: '', archivedAt: null }) as unknown as Template,
)
const isReady = (template: Template) => ready.includes(template)

/** The release templates of the service. */
export default function TemplatesPage() {
  const me = useMe()
  const templates = useQuery(apiQuery(path))
  const reason = me.can('RELEASE_PLAN_TEMPLATE_UPDATE').reason
  const removeReason = me.can('RELEASE_PLAN_TEMPLATE_DELETE').reason
  const createReason = me.can('RELEASE_PLAN_TEMPLATE_CREATE').reason
  const rows = templates.data && [...ready, ...templates.data]
  const edited = useEdited(
    rows,
    ({ id }) => id,
    (close, template) =>
      template && !isReady(template) ? (
        <StoredTemplate id={template.id} onClose={close} reason={reason} />
      ) : (
        <TemplateSheet start={template?.name} onClose={close} reason={createReason} />
      ),
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
    <Create reason={createReason} onClick={edited.create}>
      Create template
    </Create>
  )
  return (
    <Page title="Release templates" description="Milestones that every flag can be rolled out by." actions={create}>
      <List
        noun="template"
        query={templates}
        rows={rows}
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
                {isReady(template) ? (
                  <span className="strong">{template.name}</span>
                ) : (
                  <button type="button" className="link-button strong break" onClick={() => edited.edit(template)}>
                    {template.name}
                  </button>
                )}
                {isReady(template) && <Badge>Built in</Badge>}
                {template.archivedAt && <Badge>Archived</Badge>}
              </span>
            ),
          },
          {
            id: 'milestones',
            header: 'Milestones',
            cell: ({ milestones, description }) => (
              <span className="break">
                {milestones.map(({ name }) => name).join(' → ')}
                {description && <span className="soft"> {description}</span>}
              </span>
            ),
          },
          {
            id: 'created',
            header: 'Created',
            width: '140px',
            cell: (template) =>
              isReady(template) ? (
                <Button size="small" disabledReason={createReason} aria-label={`Use as a start: ${template.name}`} onClick={() => edited.edit(template)}>
                  Use as a start
                </Button>
              ) : (
                <DateTime value={template.createdAt} />
              ),
          },
        ]}
        actions={(template) =>
          isReady(template)
            ? []
            : [
                editEntry(() => edited.edit(template), reason),
                ...(template.archivedAt
                  ? []
                  : [{ label: 'Archive', icon: <Icons.Archive />, disabledReason: removeReason, onSelect: () => askArchive(template) }]),
                deleteEntry(() => askRemove(template), removeReason),
              ]
        }
      />
      {edited.dialog}
      {archiving}
      {removing}
    </Page>
  )
}

interface SheetProps {
  template?: Template
  /** The name of the ready template with which a new one begins. */
  start?: string
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

function TemplateSheet({ template, start, onClose, reason }: SheetProps) {
  const form = useChangeForm<PlanDraft, unknown>({
    initial: template ? draftOf(template) : { ...(readyTemplates.find(({ name }) => name === start) ?? readyTemplates[0]!).draft(), name: '' },
    nameField: 'name',
    check: (values) => ({ ...planProblems(values), name: values.name.trim() ? '' : 'Enter a name.' }),
    change: (draft) => {
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
        <TextField label="Name" required maxLength={255} placeholder="Careful" {...form.field('name')} />
        <TextArea label="Description" rows={2} maxLength={2000} {...form.field('description')} />
        <PlanFields values={values} onChange={form.set} errorAt={form.errorAt} />
        <FormActions form={form} submit={template ? 'Save template' : 'Create template'} onCancel={onClose} disabledReason={reason} />
      </form>
    </Dialog>
  )
}
