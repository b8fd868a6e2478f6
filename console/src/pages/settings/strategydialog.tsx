import { api, type Schema } from '../../api'
import { FormDialog, useChangeForm } from '../../forms'
import { Button, Checkbox, IconButton, Icons, Select, TextArea, TextField } from '../../ui'

type Parameter = Required<Pick<Schema<'StrategyParameterRequest'>, 'name' | 'type' | 'required'>> & { description: string }

const maxParameters = 100

/** The types of parameters, in words. */
export const parameterTypes = [
  { value: 'string', label: 'Text' },
  { value: 'list', label: 'List' },
  { value: 'number', label: 'Number' },
  { value: 'percentage', label: 'Percentage' },
  { value: 'boolean', label: 'Yes or no' },
] as const satisfies { value: Parameter['type']; label: string }[]

/** The parameters of a strategy type, as a request has them. */
export function parametersOf(type?: Schema<'StrategyType'>): Parameter[] {
  return (type?.parameters ?? []).map(({ name, type: kind, required, description }) => ({ name, type: kind as Parameter['type'], required, description }))
}

interface StrategyDialogProps {
  type?: Schema<'StrategyType'>
  onClose: () => void
  invalidates: string[]
  disabledReason?: string
}

interface Values {
  name: string
  title: string
  description: string
  parameters: Parameter[]
}

/** Creates a custom strategy type, or edits one. */
export function StrategyDialog({ type, onClose, invalidates, disabledReason }: StrategyDialogProps) {
  const form = useChangeForm<Values, unknown>({
    initial: { name: type?.name ?? '', title: type?.title ?? '', description: type?.description ?? '', parameters: parametersOf(type) },
    nameField: 'name',
    change: ({ name, title, description, parameters }) => {
      const body = { title: title || null, description: description || null, parameters }
      return type
        ? api.put('/api/admin/strategies/{strategyType}', { path: { strategyType: type.name }, body })
        : api.post('/api/admin/strategies', { body: { ...body, name: name.trim() } })
    },
    invalidates,
    success: (_, { name }) => (type ? `Strategy type ${name} saved` : `Strategy type ${name.trim()} created`),
    onSuccess: onClose,
  })
  const { parameters } = form.values
  const set = (index: number, change: Partial<Parameter>) =>
    form.set({ parameters: parameters.map((old, other) => (other === index ? { ...old, ...change } : old)) })
  return (
    <FormDialog
      form={form}
      wide
      title={type ? `Strategy type ${type.name}` : 'Create strategy type'}
      description="Each SDK that evaluates it must have an implementation with this name."
      submit={type ? 'Save strategy type' : 'Create strategy type'}
      onClose={onClose}
      disabledReason={disabledReason}
    >
      <div className="columns">
        {!type && (
          <TextField label="Name" required maxLength={100} placeholder="byCountry" hint="As the SDKs name it. It cannot be renamed." {...form.field('name')} />
        )}
        <TextField label="Title" maxLength={255} placeholder="By country" {...form.field('title')} />
      </div>
      <TextArea label="Description" rows={2} maxLength={2000} {...form.field('description')} />
      <h3>Parameters</h3>
      {parameters.map((parameter, index) => (
        <fieldset key={index} className="parameter">
          <legend className="visually-hidden">Parameter {index + 1}</legend>
          <TextField
            label="Name"
            maxLength={100}
            placeholder="countries"
            value={parameter.name}
            onChange={(name) => set(index, { name })}
            error={form.errorAt(`/parameters/${index}/name`)}
          />
          <Select
            label="Type"
            choices={parameterTypes}
            value={parameter.type}
            onChange={(kind) => set(index, { type: kind })}
            error={form.errorAt(`/parameters/${index}/type`)}
          />
          <TextField
            label="Description"
            maxLength={2000}
            value={parameter.description}
            onChange={(description) => set(index, { description })}
            error={form.errorAt(`/parameters/${index}/description`)}
          />
          <div className="row-apart parameter-end">
            <Checkbox label="Required" checked={parameter.required} onChange={(required) => set(index, { required })} />
            <IconButton
              label={`Remove parameter ${index + 1}`}
              icon={<Icons.Trash />}
              onClick={() => form.set({ parameters: parameters.filter((_, other) => other !== index) })}
            />
          </div>
        </fieldset>
      ))}
      <div>
        <Button
          icon={<Icons.Plus />}
          disabledReason={parameters.length >= maxParameters ? `At most ${maxParameters} parameters are allowed.` : undefined}
          onClick={() => form.set({ parameters: [...parameters, { name: '', type: 'string', required: false, description: '' }] })}
        >
          Add parameter
        </Button>
      </div>
    </FormDialog>
  )
}
