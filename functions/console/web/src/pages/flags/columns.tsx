import { Link } from '@tanstack/react-router'
import type { Allowed } from '../../api'
import { Badge, Checkbox, FavoriteButton, Switch, Tag, ago, fullDate, words, type Column } from '../../ui'
import { isOn, lastSeen, tagText, typeName, type FlagRow } from './rows'

/** What the columns show and do. */
export interface ColumnsInput {
  projectId: string
  environments: readonly { name: string; allowed: Allowed }[]
  selected: ReadonlySet<string>
  /** All shown flags are selected, some, or none. */
  selectedAll: 'all' | 'some' | 'none'
  onSelect: (name: string, selected: boolean) => void
  onSelectAll: (selected: boolean) => void
  onSwitch: (row: FlagRow, environment: string, on: boolean) => void
  onFavorite: (name: string, favorite: boolean) => void
}

/** The columns of the list, and the width that they need. */
export function flagColumns(input: ColumnsInput): { columns: Column<FlagRow>[]; width: number } {
  const { projectId, environments } = input
  const environmentColumns = environments.map(({ name, allowed }): Column<FlagRow> => ({
    id: `environment:${name}`,
    header: name,
    sortable: true,
    width: `${environmentWidth(name)}px`,
    cell: (row) => (
      <Switch label={`${row.name} in ${name}`} checked={isOn(row, name)} disabledReason={allowed.reason} onChange={(on) => input.onSwitch(row, name, on)} />
    ),
  }))
  const columns: Column<FlagRow>[] = [
    {
      id: 'select',
      header: 'Select',
      headerCell: (
        <Checkbox
          hideLabel
          label="Select all shown flags"
          checked={input.selectedAll === 'all'}
          indeterminate={input.selectedAll === 'some'}
          onChange={(checked) => input.onSelectAll(checked)}
        />
      ),
      width: '40px',
      cell: (row) => (
        <Checkbox hideLabel label={`Select ${row.name}`} checked={input.selected.has(row.name)} onChange={(checked) => input.onSelect(row.name, checked)} />
      ),
    },
    {
      id: 'name',
      header: 'Name',
      sortable: true,
      cell: (row) => <NameCell row={row} projectId={projectId} onFavorite={input.onFavorite} />,
    },
    ...environmentColumns,
    { id: 'type', header: 'Type', sortable: true, width: '96px', cell: (row) => <span className="soft">{typeName(row.type)}</span> },
    { id: 'lifecycle', header: 'Lifecycle', sortable: true, width: '92px', cell: (row) => <Lifecycle stage={row.lifecycle.stage} /> },
    { id: 'tags', header: 'Tags', width: '136px', cell: (row) => <Tags row={row} /> },
    { id: 'seen', header: 'Last used', sortable: true, width: '96px', cell: (row) => <When value={lastSeen(row)} never="Not yet" /> },
    { id: 'created', header: 'Created', sortable: true, width: '96px', cell: (row) => <When value={row.createdAt} never="" /> },
  ]
  const width = columns.reduce((sum, column) => sum + (column.width ? parseInt(column.width, 10) : nameWidth), 0)
  return { columns, width }
}

const nameWidth = 240

function environmentWidth(name: string) {
  return Math.min(160, Math.max(84, 28 + name.length * 7))
}

function NameCell({ row, projectId, onFavorite }: { row: FlagRow; projectId: string; onFavorite: ColumnsInput['onFavorite'] }) {
  return (
    <span className="flags-name">
      <FavoriteButton name={row.name} favorite={row.favorite} onChange={(favorite) => onFavorite(row.name, favorite)} />
      <Link
        to="/projects/$projectId/flags/$flag"
        params={{ projectId, flag: row.name }}
        className="plain-link strong flags-link"
        title={row.description || row.name}
        preload={false}
      >
        {row.name}
      </Link>
      {row.stale && <Badge kind="warn">Stale</Badge>}
    </span>
  )
}

const stageKinds = { 'pre-live': 'info', live: 'ok', completed: 'accent' } as const

function Lifecycle({ stage }: { stage: string }) {
  return <Badge kind={stageKinds[stage as keyof typeof stageKinds]}>{words(stage)}</Badge>
}

const shownTags = 1

function Tags({ row }: { row: FlagRow }) {
  const tags = row.tags ?? []
  if (tags.length === 0) return null
  return (
    <span className="flags-tags" title={tags.map(tagText).join(', ')}>
      {tags.slice(0, shownTags).map((tag) => (
        <Tag key={tagText(tag)} type={tag.type} value={tag.value} />
      ))}
      {tags.length > shownTags && <span className="soft small">+{tags.length - shownTags}</span>}
    </span>
  )
}

// Without the timer of DateTime: a list has a hundred of them.
function When({ value, never }: { value: string; never: string }) {
  if (!value) return <span className="soft">{never}</span>
  const date = new Date(value)
  return (
    <time className="soft" dateTime={value} title={fullDate(date)}>
      {ago(date)}
    </time>
  )
}
