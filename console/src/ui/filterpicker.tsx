import { Autocomplete } from '@base-ui/react/autocomplete'
import { useState, type ReactElement } from 'react'
import { isSingle, type Filter } from './filters'
import { Icons } from './icons'
import { Popover } from './popover'
import { ProductionMark } from './production'

interface Entry {
  key: string
  label: string
  note?: string
  production?: boolean
  filter: Filter
  /** Absent for an entry that leads to the values of its filter. */
  value?: string
}

const shownEntries = 100

/** Finds a filter, then its value. What is typed finds the values of all filters too, so that "rel" and Enter is Type: Release. */
export default function Picker({
  filters,
  onChange,
  trigger,
}: {
  filters: readonly Filter[]
  onChange: (change: Record<string, string>) => void
  trigger: ReactElement
}) {
  const [open, setOpen] = useState(false)
  const [text, setText] = useState('')
  const [filter, setFilter] = useState<Filter>()
  const of = filter ?? (filters.length === 1 ? filters[0] : undefined)
  const entries = (of ? valuesOf(of) : [...filters.map(asEntry), ...(text ? filters.flatMap(valuesOf) : [])])
    .filter(({ label, note }) => `${note ?? ''} ${label}`.toLowerCase().includes(text.trim().toLowerCase()))
    .slice(0, shownEntries)
  if (of && (!of.choices || of.free) && text.trim() && entries.every(({ label }) => label !== text.trim()))
    entries.push({ key: 'typed', label: text.trim(), note: of.label, filter: of, value: text.trim() })
  const choose = (entry: Entry) => {
    setText('')
    if (entry.value === undefined) return setFilter(entry.filter)
    onChange({ [entry.filter.name]: entry.value })
    setOpen(false)
  }
  return (
    <Popover
      label={of?.label ?? 'Filter'}
      trigger={trigger as never}
      open={open}
      onOpenChange={(next) => {
        setOpen(next)
        setText('')
        setFilter(undefined)
      }}
    >
      <Autocomplete.Root<Entry>
        inline
        open
        autoHighlight="always"
        items={entries}
        filteredItems={entries}
        itemToStringValue={(entry) => entry.label}
        value={text}
        onValueChange={(next, { reason }) => reason !== 'item-press' && setText(next)}
      >
        <Autocomplete.Input
          className="input menu-search"
          aria-label={of ? `${of.label}: search` : 'Search the filters'}
          placeholder={of ? `${of.label}…` : 'Filter by…'}
          maxLength={200}
        />
        <Autocomplete.Empty className="menu-empty">{of && !of.choices ? 'Type a text.' : 'Nothing matches.'}</Autocomplete.Empty>
        <Autocomplete.List className="filters-list" aria-label={of?.label ?? 'Filters'}>
          {(entry: Entry) => (
            <Autocomplete.Item key={entry.key} value={entry} className="menu-item" onClick={() => choose(entry)}>
              <span className="grow break">
                {entry.note && !of && <span className="soft">{entry.note}: </span>}
                {entry.label} {entry.production && <ProductionMark type="production" />}
              </span>
              {entry.value === undefined && <Icons.ChevronRight />}
            </Autocomplete.Item>
          )}
        </Autocomplete.List>
      </Autocomplete.Root>
    </Popover>
  )
}

const asEntry = (filter: Filter): Entry => ({
  key: filter.name,
  label: filter.label,
  filter,
  value: isSingle(filter) ? filter.choices![0]!.value : undefined,
})

const valuesOf = (filter: Filter): Entry[] =>
  (filter.choices ?? []).map(({ value, label, production }) => ({ key: `${filter.name} ${value}`, label, note: filter.label, production, filter, value }))
