import { Suspense, lazy, useCallback, useEffect, useRef, useState, type ComponentProps, type ReactNode } from 'react'
import { Button } from './button'
import { SearchField, type Choice } from './field'
import './filters.css'
import { plural } from './format'
import { Icons } from './icons'

const LazyPicker = lazy(() => import('./filterpicker'))

// The first page has no filters, so what finds them is a file of its own.
const Picker = (props: ComponentProps<typeof LazyPicker>) => (
  <Suspense fallback={props.trigger}>
    <LazyPicker {...props} />
  </Suspense>
)

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

/** Whether a filter is on or off, without a value. */
export const isSingle = ({ label, choices }: Filter) => choices?.length === 1 && choices[0]!.label === label

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
