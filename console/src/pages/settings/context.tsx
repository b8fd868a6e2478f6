import { useQuery } from '@tanstack/react-query'
import { api, apiQuery, useChange, useMe, type Schema } from '../../api'
import { Page, useUrlState } from '../../shell'
import { ActionMenu, Badge, Button, Chip, EmptyState, ErrorState, Icons, Pagination, SearchField, Table, number, plural, type Column } from '../../ui'
import { ContextDialog, contextBody } from './contextdialog'
import { legalValuesOf } from './legalvalues'
import { pageOf, pageSize, search } from './paged'
import './settings.css'

type ContextField = Schema<'ContextFieldRow'>

/** How many legal values a row shows. */
const shownValues = 5

/** The context fields, with their legal values. */
export default function ContextPage() {
  const me = useMe()
  const fields = useQuery(apiQuery('/api/admin/context'))
  // field is the name of the field that is edited. Dialogs have addresses, so that Back closes them.
  const [view, setView] = useUrlState({ q: '', offset: 0, field: '', create: false })
  const found = search(fields.data ?? [], view.q, (field) => [field.name, field.description])
  const shown = pageOf(found, view.offset)
  const edited = fields.data?.find((field) => field.name === view.field)
  const remove = useChange({
    change: (field: ContextField) => api.delete('/api/admin/context/{contextField}', { path: { contextField: field.name } }),
    invalidates: ['/api/admin/context'],
    success: (_, field) => `Context field ${field.name} deleted`,
    undo: (field) =>
      api.post('/api/admin/context', {
        body: {
          ...contextBody({ description: field.description ?? '', stickiness: field.stickiness, legalValues: legalValuesOf(field.legalValues) }),
          name: field.name,
          sortOrder: field.sortOrder,
        },
      }),
  })
  const columns: Column<ContextField>[] = [
    {
      id: 'name',
      header: 'Name',
      cell: (field) => (
        <div className="cell-name">
          <button type="button" className="link-button strong break" onClick={() => setView({ field: field.name }, { push: true })}>
            {field.name}
          </button>
          {field.description && <p className="soft small break two-lines">{field.description}</p>}
        </div>
      ),
    },
    { id: 'legal', header: 'Legal values', cell: (field) => <LegalValues field={field} /> },
    { id: 'stickiness', header: 'Stickiness', cell: (field) => (field.stickiness ? <Badge>Yes</Badge> : <span className="soft">No</span>) },
    { id: 'used', header: 'Used in', cell: (field) => (field.usedInFeatures ? plural(field.usedInFeatures, 'flag') : <span className="soft">No flag</span>) },
    {
      id: 'actions',
      header: 'Actions',
      hideHeader: true,
      align: 'right',
      width: '48px',
      cell: (field) => (
        <ActionMenu
          label={`Actions for ${field.name}`}
          entries={[
            {
              label: 'Edit',
              icon: <Icons.Edit />,
              onSelect: () => setView({ field: field.name }, { push: true }),
              disabledReason: me.can('UPDATE_CONTEXT_FIELD').reason,
            },
            {
              label: 'Delete',
              icon: <Icons.Trash />,
              danger: true,
              onSelect: () => remove.mutate(field),
              disabledReason: me.can('DELETE_CONTEXT_FIELD').reason,
            },
          ]}
        />
      ),
    },
  ]
  const create = (
    <Button
      variant="primary"
      icon={<Icons.Plus />}
      disabledReason={me.can('CREATE_CONTEXT_FIELD').reason}
      onClick={() => setView({ create: true }, { push: true })}
    >
      Create context field
    </Button>
  )
  return (
    <Page
      title="Context fields"
      description="What an application sends about the user or the request, such as a country. Constraints compare these fields."
      actions={create}
    >
      {fields.error ? (
        <ErrorState error={fields.error} onRetry={() => void fields.refetch()} />
      ) : (
        <div className="stack">
          <SearchField label="Search context fields" value={view.q} onChange={(q) => setView({ q, offset: 0 })} maxLength={100} />
          <Table
            label="Context fields"
            columns={columns}
            rows={shown.rows}
            rowKey={(field) => field.name}
            loading={fields.isPending}
            empty={
              view.q ? (
                <EmptyState icon={<Icons.Search />} title="No context field matches" />
              ) : (
                <EmptyState icon={<Icons.Target />} title="No context fields" action={create}>
                  Define the fields that your applications send, and the values that they can have. The editor of constraints then suggests them.
                </EmptyState>
              )
            }
          />
          <Pagination noun="fields" offset={shown.offset} limit={pageSize} total={found.length} onChange={(offset) => setView({ offset })} />
        </div>
      )}
      {view.create && <ContextDialog onClose={() => setView({ create: false })} disabledReason={me.can('CREATE_CONTEXT_FIELD').reason} />}
      {edited && !view.create && (
        <ContextDialog key={edited.name} field={edited} onClose={() => setView({ field: '' })} disabledReason={me.can('UPDATE_CONTEXT_FIELD').reason} />
      )}
    </Page>
  )
}

function LegalValues({ field }: { field: ContextField }) {
  if (field.legalValues.length === 0) return <span className="soft">Any</span>
  return (
    <span className="row chips cell-name">
      {field.legalValues.slice(0, shownValues).map((one) => (
        <Chip key={one.value}>{one.value}</Chip>
      ))}
      {field.legalValues.length > shownValues && <span className="soft nowrap">and {number(field.legalValues.length - shownValues)} more</span>}
    </span>
  )
}
