import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { Button, Icons, SearchField, Select, number, type Choice } from '../../ui'
import { countTags, flagTypes, isFiltered, lifecycleStages, noFilter, type FlagFilter, type FlagRow } from './rows'

interface FilterBarProps {
  rows: readonly FlagRow[]
  environments: readonly string[]
  filter: FlagFilter
  onChange: (change: Partial<FlagFilter>) => void
}

const tagLimit = 200

const any = (label: string): Choice => ({ value: '', label })

/** The filters above the list. */
export function FilterBar({ rows, environments, filter, onChange }: FilterBarProps) {
  const tags = useMemo(() => countTags(rows, tagLimit), [rows])
  const tagChoices = tags.map(({ tag, count }) => ({ value: tag, label: `${tag} (${number(count)})` }))
  if (filter.tag && !tags.some(({ tag }) => tag === filter.tag)) tagChoices.push({ value: filter.tag, label: filter.tag })
  const statuses = environments.flatMap((name) => [
    { value: `${name}:on`, label: `On in ${name}` },
    { value: `${name}:off`, label: `Off in ${name}` },
  ])
  const [open, setOpen] = useState(false)
  const onText = useCallback((q: string) => onChange({ q }), [onChange])
  return (
    <div className={open ? 'flags-filters flags-filters-open' : 'flags-filters'} role="search" aria-label="Filter the flags">
      <SearchBox label="Search name, description or tag" value={filter.q} onChange={onText} />
      <Button className="flags-filters-button" aria-expanded={open} icon={<Icons.Sliders />} onClick={() => setOpen(!open)}>
        Filters
      </Button>
      <Select hideLabel label="Status" value={filter.status} onChange={(status) => onChange({ status })} choices={[any('On or off'), ...statuses]} />
      <Select hideLabel label="Type" value={filter.type} onChange={(type) => onChange({ type })} choices={[any('Any type'), ...flagTypes]} />
      <Select
        hideLabel
        label="Lifecycle"
        value={filter.lifecycle}
        onChange={(lifecycle) => onChange({ lifecycle })}
        choices={[any('Any stage'), ...lifecycleStages]}
      />
      <Select
        hideLabel
        label="State"
        value={filter.state}
        onChange={(state) => onChange({ state })}
        choices={[any('Active and stale'), { value: 'active', label: 'Active' }, { value: 'stale', label: 'Stale' }]}
      />
      {tagChoices.length > 0 && (
        <Select hideLabel label="Tag" value={filter.tag} onChange={(tag) => onChange({ tag })} choices={[any('Any tag'), ...tagChoices]} />
      )}
      <Button
        variant={filter.favorites ? 'secondary' : 'quiet'}
        aria-pressed={filter.favorites}
        icon={<Icons.Star />}
        onClick={() => onChange({ favorites: !filter.favorites })}
      >
        Favorites
      </Button>
      {isFiltered(filter) && (
        <Button variant="quiet" icon={<Icons.Close />} onClick={() => onChange(noFilter)}>
          Clear
        </Button>
      )}
    </div>
  )
}

const addressDelay = 250

/** A search field that tells what was typed when typing pauses: browsers limit how often an address may change, and servers work for each request. */
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
    }, addressDelay)
    return () => clearTimeout(timer)
  }, [typed, onChange])
  return <SearchField label={label} maxLength={200} value={typed} onChange={setTyped} />
}
