import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { apiQuery, type Schema } from '../../api'
import { Button, Select, Tag } from '../../ui'
import { SuggestField } from '../../ui/suggest'
import { tagText } from './rows'

interface TagPickerProps {
  /** What the tags are: 'Tags', 'Tags to add'. */
  label: string
  tags: Schema<'Tag'>[]
  onChange: (tags: Schema<'Tag'>[]) => void
}

const suggested = 1000

/** Chooses tags: a type, and a value that may be new. */
export function TagPicker({ label, tags, onChange }: TagPickerProps) {
  const types = useQuery(apiQuery('/api/admin/tag-types'))
  const all = useQuery({ ...apiQuery('/api/admin/tags', { query: { limit: String(suggested) } }), staleTime: 60_000 })
  const [chosenType, setType] = useState('')
  const [value, setValue] = useState('')
  const names = types.data?.tagTypes.map((type) => type.name) ?? []
  // A tag can be chosen before the types are read.
  const type = chosenType || (!types.data || names.includes('simple') ? 'simple' : (names[0] ?? ''))
  const add = (text: string) => {
    const tag = { type, value: text.trim() }
    setValue('')
    if (type && tag.value && !tags.some((one) => tagText(one) === tagText(tag))) onChange([...tags, tag])
  }
  const suggestions = (all.data?.tags ?? []).filter((tag) => tag.type === type).map((tag) => ({ value: tag.value }))
  return (
    <fieldset className="field">
      <legend className="field-label">{label}</legend>
      {tags.length > 0 && (
        <div className="row">
          {tags.map((tag) => (
            <Tag key={tagText(tag)} type={tag.type} value={tag.value} onRemove={() => onChange(tags.filter((one) => one !== tag))} />
          ))}
        </div>
      )}
      <div className="flags-tag-input">
        <Select hideLabel label={`${label}: type`} value={type} onChange={setType} choices={names.map((name) => ({ value: name, label: name }))} />
        <SuggestField
          hideLabel
          label={`${label}: value`}
          placeholder="Value"
          maxLength={50}
          suggestions={suggestions}
          value={value}
          onChange={setValue}
          onChoose={add}
          onEnter={() => add(value)}
        />
        <Button disabledReason={value.trim() ? undefined : 'Type a value first.'} onClick={() => add(value)}>
          Add
        </Button>
      </div>
    </fieldset>
  )
}
