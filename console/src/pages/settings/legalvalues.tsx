import { useState } from 'react'
import type { Schema } from '../../api'
import { splitValues } from '../../constraints'
import { Button, Field, IconButton, Icons, Pagination, SearchField, Table, number, type Column } from '../../ui'
import { pageOf, search } from './paged'

/** A legal value with its meaning, '' if it has none. */
export interface LegalValue {
  value: string
  description: string
}

/** Limits of the server. */
const maxLegalValues = 1000
const maxLength = 100
const maxDescription = 255
const size = 10

/** The list with the texts added, each value once. */
export function addLegalValues(values: readonly LegalValue[], texts: readonly string[]): LegalValue[] {
  const known = new Set(values.map((one) => one.value))
  const added = [...new Set(texts)].filter((text) => text !== '' && !known.has(text))
  return [...values, ...added.map((value) => ({ value, description: '' }))]
}

/** The legal values of the server for the form. */
export const legalValuesOf = (values: readonly Schema<'LegalValue'>[]): LegalValue[] =>
  values.map(({ value, description }) => ({ value, description: description ?? '' }))

interface LegalValuesProps {
  values: readonly LegalValue[]
  onChange: (values: LegalValue[]) => void
  error?: string
}

/** Edits the legal values of a context field: values with their meanings, and a field that takes many at once. */
export function LegalValuesField({ values, onChange, error }: LegalValuesProps) {
  const [draft, setDraft] = useState('')
  const [query, setQuery] = useState('')
  const [offset, setOffset] = useState(0)
  const shown = pageOf(
    search(values, query, (one) => [one.value, one.description]),
    offset,
    size,
  )
  const found = search(values, query, (one) => [one.value, one.description]).length
  const add = () => {
    const next = addLegalValues(values, splitValues(draft))
    setDraft('')
    setQuery('')
    setOffset(next.length)
    onChange(next)
  }
  const describe = (value: string, description: string) => onChange(values.map((one) => (one.value === value ? { value, description } : one)))
  const columns: Column<LegalValue>[] = [
    { id: 'value', header: 'Value', cell: (one) => <span className="mono break">{one.value}</span> },
    {
      id: 'description',
      header: 'Meaning',
      cell: (one) => (
        <input
          className="input"
          aria-label={`Meaning of ${one.value}`}
          value={one.description}
          maxLength={maxDescription}
          autoComplete="off"
          onChange={(event) => describe(one.value, event.target.value)}
        />
      ),
    },
    {
      id: 'remove',
      header: 'Remove',
      hideHeader: true,
      align: 'right',
      width: '48px',
      cell: (one) => (
        <IconButton label={`Remove ${one.value}`} icon={<Icons.Close />} onClick={() => onChange(values.filter((other) => other.value !== one.value))} />
      ),
    },
  ]
  const full = values.length >= maxLegalValues
  return (
    <div className="stack-s">
      <Field label="Legal values" error={error} hint="Separate many with commas or line breaks. Without legal values the field takes any value.">
        {(control) => (
          <span className="row nowrap-row">
            <textarea
              {...control}
              className="input grow"
              rows={1}
              value={draft}
              maxLength={200_000}
              placeholder="NO, SE, DK"
              onChange={(event) => setDraft(event.target.value)}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' || event.shiftKey) return
                event.preventDefault()
                add()
              }}
            />
            <Button
              onClick={add}
              disabledReason={
                full ? `A field can have at most ${number(maxLegalValues)} legal values.` : draft.trim() === '' ? 'Enter a value first.' : undefined
              }
            >
              Add
            </Button>
          </span>
        )}
      </Field>
      {values.some((one) => one.value.length > maxLength) && <p className="field-error">A value can have at most {maxLength} characters.</p>}
      {values.length > size && (
        <SearchField
          label="Search legal values"
          value={query}
          maxLength={100}
          onChange={(text) => {
            setQuery(text)
            setOffset(0)
          }}
        />
      )}
      {values.length > 0 && <Table label="Legal values" columns={columns} rows={shown.rows} rowKey={(one) => one.value} />}
      {found > size && <Pagination noun="values" offset={shown.offset} limit={size} total={found} onChange={setOffset} />}
    </div>
  )
}
