import { useQuery } from '@tanstack/react-query'
import { api, apiQuery, useChange, useMe, type Schema } from '../../api'
import { Page } from '../../shell'
import { Badge, Chip, Icons, More, plural } from '../../ui'
import { ContextDialog, contextBody } from './contextdialog'
import { legalValuesOf } from './legalvalues'
import { Create, List, deleteEntry, editEntry, useEdited } from './list'

type ContextField = Schema<'ContextFieldRow'>

/** How many legal values a row shows. */
const shownValues = 5

/** The context fields, with their legal values. */
export default function ContextPage() {
  const me = useMe()
  const fields = useQuery(apiQuery('/api/admin/context', { query: { undefined: 'true' } }))
  const edited = useEdited(
    fields.data,
    (field) => field.name,
    (close, row) => {
      const field = row?.undefined ? undefined : row
      return (
        <ContextDialog field={field} name={row?.name} onClose={close} disabledReason={me.can(field ? 'UPDATE_CONTEXT_FIELD' : 'CREATE_CONTEXT_FIELD').reason} />
      )
    },
  )
  const remove = useChange({
    change: (field: ContextField) => api.delete('/api/admin/context/{contextField}', { path: { contextField: field.name } }),
    invalidates: ['/api/admin/context'],
    success: (_, field) => `Context field ${field.name} deleted`,
    undo: ({ name, description, stickiness, legalValues, sortOrder }) =>
      api.post('/api/admin/context', {
        body: { ...contextBody({ description: description ?? '', stickiness, legalValues: legalValuesOf(legalValues) }), name, sortOrder },
      }),
  })
  const create = (
    <Create reason={me.can('CREATE_CONTEXT_FIELD').reason} onClick={edited.create}>
      Create context field
    </Create>
  )
  return (
    <Page title="Context fields" description="What applications send about a user or a request. Constraints compare it." actions={create}>
      <List
        noun="context field"
        query={fields}
        rows={fields.data}
        rowKey={(field) => field.name}
        texts={(field) => [field.name, field.description]}
        nameOf={(field) => field.name}
        columns={[
          {
            id: 'name',
            header: 'Name',
            cell: (field) => (
              <div className="cell-name">
                <button type="button" className="link-button strong break" onClick={() => edited.edit(field)}>
                  {field.name}
                </button>
                {field.undefined && (
                  <>
                    {' '}
                    <Badge>Not defined</Badge>
                  </>
                )}
                {field.description && <p className="soft small break two-lines">{field.description}</p>}
              </div>
            ),
          },
          {
            id: 'legal',
            header: 'Legal values',
            cell: (field) =>
              field.undefined ? (
                <button type="button" className="link-button" onClick={() => edited.edit(field)}>
                  Define
                </button>
              ) : (
                <LegalValues field={field} />
              ),
          },
          { id: 'stickiness', header: 'Stickiness', cell: (field) => stickinessOf(field) },
          {
            id: 'used',
            header: 'Used in',
            cell: (field) =>
              field.usedInFeatures ? plural(field.usedInFeatures, 'flag') : <span className="soft">{field.undefined ? 'A segment' : 'No flag'}</span>,
          },
        ]}
        actions={(field) =>
          field.undefined
            ? [{ label: 'Define', icon: <Icons.Plus />, onSelect: () => edited.edit(field), disabledReason: me.can('CREATE_CONTEXT_FIELD').reason }]
            : [
                editEntry(() => edited.edit(field), me.can('UPDATE_CONTEXT_FIELD').reason),
                deleteEntry(() => remove.mutate(field), me.can('DELETE_CONTEXT_FIELD').reason),
              ]
        }
        icon={<Icons.Target />}
        empty="Define the fields that your applications send, and the values that they can have. The editor of constraints then suggests them."
      />
      {edited.dialog}
    </Page>
  )
}

function LegalValues({ field: { name, legalValues } }: { field: ContextField }) {
  if (legalValues.length === 0) return <span className="soft">Any</span>
  const values = legalValues.map(({ value }) => value)
  return (
    <span className="row chips cell-name">
      {values.slice(0, shownValues).map((value) => (
        <Chip key={value}>{value}</Chip>
      ))}
      <More values={values.slice(shownValues)} label={`Legal values of ${name}`} />
    </span>
  )
}

// The default stickiness is by these fields.
function stickinessOf({ name, stickiness, undefined: missing }: ContextField) {
  if (missing) return <span className="soft">–</span>
  if (name === 'userId' || name === 'sessionId') return 'Default'
  return stickiness ? 'Yes' : <span className="soft">No</span>
}
