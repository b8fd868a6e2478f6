import { Autocomplete } from '@base-ui/react/autocomplete'
import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react'
import { Button } from './button'
import { SearchField, type Choice } from './field'
import './filters.css'
import { plural } from './format'
import { Icons } from './icons'
import { Popover } from './popover'
import { ProductionMark } from './production'

/** Something that a list can be filtered by. Its value is part of the URL of the page: '' is no filter. */
export interface Filter<Name extends string = string> {
  /** The key of its value. */
  name: Name
  /** What the chip says before the value: 'Type'. */
  label: string
  /** The values; absent for a text of any kind, which is typed. A filter whose only choice has its label is added by it alone: 'Favorites'. */
  choices?: readonly Choice[]
  /** Other values than the choices can be typed, too. */
  free?: boolean
}

interface FilterBarProps<Name extends string> {
  /** What the list has: 'flag'. */
  noun: string
  nouns?: string
  filters: readonly Filter<Name>[]
  values: Record<Name, string> & { q?: string }
  onChange: (change: Partial<Record<Name | 'q', string>>) => void
  /** What the search field says; without it there is none. */
  search?: string
  /** How many items are shown, and of how many; undefined while that is not known. */
  shown?: number
  total?: number
  /** Buttons at the end of the line. */
  children?: ReactNode
}

/** One line above a list: search, the filters that are set as chips, Filter, how many are shown, Clear, and buttons. */
export function FilterBar<Name extends string>({ noun, nouns, filters, values, onChange, search, shown, total, children }: FilterBarProps<Name>) {
  const set = filters.filter(({ name }) => values[name] !== '')
  const filtered = set.length > 0 || Boolean(values.q)
  const onText = useCallback((q: string) => onChange({ q } as never), [onChange])
  const clear = () => onChange(Object.fromEntries([...filters.map(({ name }) => [name, '']), ['q', '']]) as never)
  return (
    <div className="filters" role="search" aria-label={`Filter the ${nouns ?? `${noun}s`}`}>
      {search && <SearchBox label={search} value={values.q ?? ''} onChange={onText} />}
      {set.map((filter) => (
        <FilterChip key={filter.name} filter={filter} value={values[filter.name]} onChange={(value) => onChange({ [filter.name]: value } as never)} />
      ))}
      {filters.length > 0 && (
        <Picker
          filters={filters}
          onChange={onChange as (change: Record<string, string>) => void}
          trigger={
            <Button variant="quiet" icon={<Icons.Filter />}>
              Filter
            </Button>
          }
        />
      )}
      <span className="filters-end">
        {shown !== undefined && (
          <span className="soft number nowrap" role="status">
            {total !== undefined && shown !== total ? `${shown.toLocaleString('en')} of ${plural(total, noun, nouns)}` : plural(shown, noun, nouns)}
          </span>
        )}
        {filtered && (
          <Button variant="quiet" onClick={clear}>
            Clear
          </Button>
        )}
        {children}
      </span>
    </div>
  )
}

const isSingle = ({ label, choices }: Filter) => choices?.length === 1 && choices[0]!.label === label

const labelOf = (filter: Filter, value: string) => filter.choices?.find((choice) => choice.value === value)?.label ?? value

function FilterChip({ filter, value, onChange }: { filter: Filter; value: string; onChange: (value: string) => void }) {
  const single = isSingle(filter)
  const text = (
    <>
      {filter.label}
      {!single && <>: {labelOf(filter, value)}</>}
    </>
  )
  return (
    <span className="chip filter-chip">
      {single ? (
        <span>{text}</span>
      ) : (
        <Picker
          filters={[filter]}
          onChange={(change) => onChange(change[filter.name] ?? '')}
          trigger={
            <button type="button" className="filter-chip-text">
              {text}
            </button>
          }
        />
      )}
      <button type="button" className="filter-chip-remove" aria-label={`Remove the filter ${filter.label}`} onClick={() => onChange('')}>
        <Icons.Close />
      </button>
    </span>
  )
}

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

// Finds a filter, then its value. What is typed finds the values of all filters too, so that "rel" and Enter is Type: Release.
function Picker({
  filters,
  onChange,
  trigger,
}: {
  filters: readonly Filter[]
  onChange: (change: Record<string, string>) => void
  trigger: React.ReactElement
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

const typingPause = 250

/** A search field that tells what was typed when typing pauses: browsers limit how often a URL may change, and servers work for each request. */
export function SearchBox({ label, value, onChange }: { label: string; value: string; onChange: (value: string) => void }) {
  const [typed, setTyped] = useState(value)
  const sent = useRef(value)
  useEffect(() => {
    if (value === sent.current) return
    sent.current = value
    setTyped(value)
  }, [value])
  useEffect(() => {
    if (typed === sent.current) return
    const timer = setTimeout(() => {
      sent.current = typed
      onChange(typed)
    }, typingPause)
    return () => clearTimeout(timer)
  }, [typed, onChange])
  return <SearchField label={label} maxLength={200} value={typed} onChange={setTyped} />
}
