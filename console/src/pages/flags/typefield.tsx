import { Select } from '../../ui'
import { flagTypes } from './rows'

interface TypeFieldProps {
  value: string
  onChange: (type: (typeof flagTypes)[number]['value']) => void
  error?: string
  disabledReason?: string
}

const choices = flagTypes.map(({ value, label }) => ({ value, label }))

/** The type of a flag, with what it is for. */
export function TypeField({ onChange, ...field }: TypeFieldProps) {
  const hint = flagTypes.find(({ value }) => value === field.value)?.hint
  return <Select label="Type" choices={choices} hint={hint} onChange={onChange as (type: string) => void} {...field} />
}
