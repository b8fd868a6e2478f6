import { useQuery } from '@tanstack/react-query'
import { api, apiQuery, type Schema } from '../../api'
import { FormDialog, useChangeForm } from '../../forms'
import { Checkbox, Loaded, TextArea, TextField } from '../../ui'
import { LegalValuesField, legalValuesOf, type LegalValue } from './legalvalues'
import { StrategyUsage, usageLimit } from './usage'

type ContextField = Schema<'ContextFieldRow'>

interface Values {
  name: string
  description: string
  stickiness: boolean
  legalValues: LegalValue[]
}

/** The body of a request for a context field. */
export function contextBody({ description, stickiness, legalValues }: Omit<Values, 'name'>) {
  return {
    description: description || null,
    stickiness,
    legalValues: legalValues.map((one) => (one.description ? one : { value: one.value })),
  }
}

/** Creates a context field, or edits one. */
export function ContextDialog({
  field,
  name = '',
  onClose,
  disabledReason,
}: {
  field?: ContextField
  name?: string
  onClose: () => void
  disabledReason?: string
}) {
  const form = useChangeForm<Values, unknown>({
    initial: {
      name: field?.name ?? name,
      description: field?.description ?? '',
      stickiness: field?.stickiness ?? false,
      legalValues: legalValuesOf(field?.legalValues ?? []),
    },
    nameField: 'name',
    change: (values) => {
      const body = contextBody(values)
      return field
        ? api.put('/api/admin/context/{contextField}', { path: { contextField: field.name }, body })
        : api.post('/api/admin/context', { body: { ...body, name: values.name.trim() } })
    },
    invalidates: ['/api/admin/context'],
    success: field ? `Context field ${field.name} saved` : 'Context field created',
    onSuccess: onClose,
  })
  const legal = form.field('legalValues')
  return (
    <FormDialog
      form={form}
      title={field ? `Context field ${field.name}` : 'Create context field'}
      description={field ? undefined : 'A property of the user or the request that your application sends, for constraints and rollouts.'}
      submit={field ? 'Save context field' : 'Create context field'}
      onClose={onClose}
      disabledReason={disabledReason}
    >
      {!field && (
        <TextField
          label="Name"
          required
          maxLength={100}
          placeholder="country"
          hint="As the application names it. It cannot be renamed."
          {...form.field('name')}
        />
      )}
      <TextArea label="Description" rows={2} maxLength={2000} {...form.field('description')} />
      <Checkbox
        label="Use for stickiness"
        hint="Gradual rollouts and variants can then keep users with the same value of this field together."
        checked={form.values.stickiness}
        onChange={(stickiness) => form.set({ stickiness })}
      />
      <LegalValuesField values={legal.value} onChange={legal.onChange} error={legal.error} />
      {field && <Usage name={field.name} />}
    </FormDialog>
  )
}

function Usage({ name }: { name: string }) {
  const usage = useQuery(apiQuery('/api/admin/context/{contextField}/strategies', { path: { contextField: name }, query: { limit: String(usageLimit) } }))
  return (
    <section className="stack-s">
      <h3>Used by</h3>
      <Loaded query={usage} lines={2}>
        {(using) => <StrategyUsage label={`Strategies that use ${name}`} strategies={using.strategies} defaults={using.defaultStrategies} />}
      </Loaded>
    </section>
  )
}
