import { useQuery } from '@tanstack/react-query'
import { apiQuery } from '../../../api'
import { ValuesField } from '../../../constraints/values'
import { Button, IconButton, Icons, Select } from '../../../ui'
import { maxOverrides, type VariantDraft } from './model'

interface OverridesProps {
  value: VariantDraft['overrides']
  onChange: (value: VariantDraft['overrides']) => void
  path: string
  errorAt: (pointer: string) => string | undefined
  /** The name of the variant. */
  name: string
}

/** Values of context fields that get a variant regardless of the weights. */
export function Overrides({ value, onChange, path, errorAt, name }: OverridesProps) {
  const fields = useQuery({ ...apiQuery('/api/admin/context'), staleTime: 60_000 }).data ?? []
  const known = ['userId', ...fields.map((field) => field.name)]
  const change = (index: number, next: Partial<VariantDraft['overrides'][number]>) =>
    onChange(value.map((one, other) => (other === index ? { ...one, ...next } : one)))
  return (
    <div className="stack-s">
      {value.map((override, index) => (
        <div key={index} className="override">
          <Select
            label="Always for"
            choices={[...new Set([...known, override.contextName])].map((field) => ({ value: field, label: field }))}
            value={override.contextName}
            onChange={(contextName) => change(index, { contextName })}
            error={errorAt(`${path}/${index}/contextName`)}
          />
          <div className="grow">
            <ValuesField
              label={`Values of ${override.contextName}`}
              values={override.values}
              onChange={(values) => change(index, { values })}
              error={errorAt(`${path}/${index}/values`)}
            />
          </div>
          <IconButton
            label={`Remove override ${index + 1} of ${name}`}
            icon={<Icons.Trash />}
            onClick={() => onChange(value.filter((_, other) => other !== index))}
          />
        </div>
      ))}
      <div>
        <Button
          size="small"
          icon={<Icons.Plus />}
          disabledReason={value.length >= maxOverrides ? `At most ${maxOverrides} overrides are allowed.` : undefined}
          onClick={() => onChange([...value, { contextName: 'userId', values: [] }])}
        >
          Always give it to certain users
        </Button>
      </div>
    </div>
  )
}
