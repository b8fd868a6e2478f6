import { Button, Select, TextArea, TextField } from '../../../ui'
import { formatJson, jsonProblem, type ValueType } from './model'

interface ValueFieldProps {
  label: string
  /** A payload can also be CSV. */
  type: ValueType | 'csv'
  value: string
  onChange: (value: string) => void
  error?: string
  hint?: string
  disabledReason?: string
}

const booleans = ['true', 'false'].map((value) => ({ value, label: value }))

/** The field for a value of a type, as the text that is stored. */
export function ValueField({ type, ...field }: ValueFieldProps) {
  const text = { ...field, maxLength: 65_536 }
  if (type === 'boolean') return <Select {...field} choices={booleans} />
  if (type === 'integer' || type === 'number') return <TextField {...text} inputMode={type === 'integer' ? 'numeric' : 'decimal'} className="number" />
  if (type === 'string') return <TextField {...text} />
  const json = type === 'object'
  const formatted = json ? formatJson(field.value) : undefined
  const problem = json && field.value.trim() !== '' ? jsonProblem(field.value) : undefined
  return (
    <>
      <TextArea
        {...text}
        spellCheck={false}
        className="mono"
        placeholder={json ? '{"steps": 1}' : undefined}
        rows={Math.min(12, Math.max(3, field.value.split('\n').length))}
        error={field.error && (problem ?? field.error)}
        hint={field.error ? undefined : (problem ?? field.hint)}
      />
      {json && (
        <div>
          <Button
            size="small"
            disabledReason={formatted === undefined ? 'It is not JSON yet.' : formatted === field.value ? 'It is formatted.' : undefined}
            onClick={() => formatted !== undefined && field.onChange(formatted)}
          >
            Format JSON
          </Button>
        </div>
      )}
    </>
  )
}
