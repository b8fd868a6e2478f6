import { Link } from '@tanstack/react-router'
import type { Allowed } from '../../api'
import {
  Badge,
  Checkbox,
  FavoriteButton,
  ProductionMark,
  Switch,
  Tag,
  Tooltip,
  ago,
  isProduction,
  lastTime,
  now,
  useDates,
  usesNoted,
  zonedDate,
  type Column,
} from '../../ui'
import { ProtectedMark } from '../../requests/line'
import { lifecycleText } from '../flag/lifecycle'
import { planText } from '../flag/plan/words'
import { lastSeen, shareText, tagText, typeName, type FlagRow } from './rows'

/** What the columns show and do. */
export interface ColumnsInput {
  environments: readonly { name: string; type: string; reviewed: boolean; planned?: boolean }[]
  allowed: (project: string, environment: string) => Allowed
  /** Shows the project of each flag, with this name. */
  projectName?: (id: string) => string
  /** Whether the column with an id is left out. */
  hidden: (id: string) => boolean
  /** The window is that of a phone. */
  narrow: boolean
  selected: Pick<ReadonlyMap<string, unknown>, 'has'>
  /** All shown flags are selected, some, or none; absent if none is shown. */
  selectedAll?: 'all' | 'some' | 'none'
  onSelect: (row: FlagRow, selected: boolean) => void
  onSelectAll: (selected: boolean) => void
  onSwitch: (row: FlagRow, environment: { name: string; type: string }, on: boolean) => void
  onFavorite: (row: FlagRow, favorite: boolean) => void
}

/** The columns of the list, the width that they need, and those that can be left out. */
export function flagColumns(input: ColumnsInput): { columns: Column<FlagRow>[]; width: string; optional: Column<FlagRow>[] } {
  const { environments, projectName } = input
  const environmentColumns = environments.map(({ reviewed, planned, ...environment }): Column<FlagRow> => ({
    id: `environment:${environment.name}`,
    header: environment.name,
    mark: (
      <>
        <ProductionMark type={environment.type} />
        {reviewed && <ProtectedMark />}
      </>
    ),
    sortable: true,
    width: `${Math.max(environmentWidth(environment), planned ? 164 : 0) + (reviewed ? 20 : 0)}px`,
    cell: (row) => {
      const state = row.environments.find(({ name }) => name === environment.name)
      if (!state) return null
      return (
        <span className="flags-switch">
          <Switch
            label={`${row.name} in ${environment.name}`}
            checked={state.enabled}
            disabledReason={input.allowed(row.project, environment.name).reason}
            onChange={(on) => input.onSwitch(row, environment, on)}
          />
          {state.enabled && <Share {...state} />}
          <PlanNote {...state} />
        </span>
      )
    },
  }))
  const fixed: Column<FlagRow>[] = [
    {
      id: 'select',
      header: 'Select',
      headerCell: input.selectedAll ? (
        <Checkbox
          hideLabel
          label="Select all shown flags"
          checked={input.selectedAll === 'all'}
          indeterminate={input.selectedAll === 'some'}
          onChange={(checked) => input.onSelectAll(checked)}
        />
      ) : (
        <></>
      ),
      width: '40px',
      cell: (row) => (
        <Checkbox hideLabel label={`Select ${row.name}`} checked={input.selected.has(row.name)} onChange={(checked) => input.onSelect(row, checked)} />
      ),
    },
    {
      id: 'name',
      header: 'Name',
      sortable: true,
      sticky: true,
      cell: (row) => <NameCell row={row} onFavorite={input.onFavorite} />,
    },
  ]
  const optional: Column<FlagRow>[] = [
    ...(projectName
      ? [
          {
            id: 'project',
            header: 'Project',
            sortable: true,
            width: '116px',
            cell: ({ project }: FlagRow) => (
              <Link to="/projects/$projectId" params={{ projectId: project }} className="plain-link flags-project" title={projectName(project)} preload={false}>
                {projectName(project)}
              </Link>
            ),
          },
        ]
      : []),
    ...environmentColumns,
    { id: 'type', header: 'Type', sortable: true, width: '100px', cell: (row) => <span className="soft">{typeName(row.type)}</span> },
    { id: 'lifecycle', header: 'Lifecycle', sortable: !projectName, width: '94px', cell: (row) => <Lifecycle row={row} /> },
    { id: 'tags', header: 'Tags', width: '116px', cell: (row) => <Tags row={row} /> },
    { id: 'seen', header: 'Last used', sortable: true, width: '132px', cell: (row) => <When value={lastSeen(row)} never="Not yet" noted={usesNoted} /> },
    { id: 'created', header: 'Created', sortable: true, width: '108px', cell: (row) => <When value={row.createdAt} never="" /> },
  ]
  const shown = optional.filter((column) => !input.hidden(column.id))
  if (input.narrow) {
    // On a phone a flag is a card: its name, and below it the switches, that of production first.
    const production = environments.filter(isProduction).map(({ name }) => `environment:${name}`)
    const switches = firstOf(
      shown.filter((column) => environmentColumns.includes(column)),
      production,
    )
    const lifecycle = shown.filter(({ id }) => id === 'lifecycle')
    const card = (row: FlagRow) => (
      <>
        {fixed[1]!.cell(row)}
        <span className="flags-card">
          {switches.slice(0, cardSwitches).map(({ id, header, cell }) => (
            <span key={id} className="flags-card-part">
              <span className="soft small">{header}</span> {cell(row)}
            </span>
          ))}
          {switches.length < cardSwitches && lifecycle.map(({ id, cell }) => <span key={id}>{cell(row)}</span>)}
        </span>
      </>
    )
    return { columns: [{ ...fixed[1]!, cell: card }, fixed[0]!], width: '0', optional }
  }
  const columns = [...fixed, ...shown]
  const others = columns.reduce((sum, column) => sum + parseInt(column.width ?? '0', 10), 0)
  return { columns, width: `calc(${others}px + ${nameWidth})`, optional }
}

const firstOf = (columns: Column<FlagRow>[], ids: string[]) => [
  ...columns.filter(({ id }) => ids.includes(id)),
  ...columns.filter(({ id }) => !ids.includes(id)),
]

// How many switches a card has room for.
const cardSwitches = 2

// The name stays in view, and leaves room for a column beside it in a narrow window.
const nameWidth = 'clamp(170px, 17vw, 320px)'

function environmentWidth({ name, type }: { name: string; type: string }) {
  return Math.min(160, Math.max(106, 28 + name.length * 7)) + (isProduction({ type }) ? 44 : 0)
}

// What tells a flag that is on for some users from one that is on for everyone.
function Share(state: FlagRow['environments'][number]) {
  const { text, more } = shareText(state)
  if (!text) return null
  const title =
    text === 'some'
      ? 'Only users that constraints, segments or a list select'
      : `${text} of users${more ? ', and those that constraints, segments or a list select' : ''}`
  return (
    <span className="flags-share number" title={title}>
      {text === 'some' ? 'some users' : text}
      {more && ' + more'}
    </span>
  )
}

// When the release plan goes on, without the timer of DateTime.
function PlanNote(state: FlagRow['environments'][number]) {
  const text = planText(state, now())
  if (!text) return null
  return (
    <span
      className="flags-plan small soft nowrap"
      title={`Release plan: ${state.milestoneName ?? 'not started'}, milestone ${(state.milestoneOrder ?? 0) + 1} of ${state.totalMilestones}`}
    >
      {text}
    </span>
  )
}

function NameCell({ row, onFavorite }: { row: FlagRow; onFavorite: ColumnsInput['onFavorite'] }) {
  return (
    <span className="flags-name">
      <FavoriteButton name={row.name} favorite={row.favorite} onChange={(favorite) => onFavorite(row, favorite)} />
      <Tooltip text={<NameTip row={row} />}>
        <Link
          to="/projects/$projectId/flags/$flag"
          params={{ projectId: row.project, flag: row.name }}
          className="plain-link strong flags-link"
          preload={false}
        >
          {row.name}
        </Link>
      </Tooltip>
      {row.stale && <Badge kind="warn">Stale</Badge>}
    </span>
  )
}

function NameTip({ row }: { row: FlagRow }) {
  return (
    <>
      <span className="strong break">{row.name}</span>
      {row.description && <div className="break">{row.description}</div>}
    </>
  )
}

function Lifecycle({ row }: { row: FlagRow }) {
  const { label, hint, kind } = lifecycleText(row.lifecycle, row.environments)
  return (
    <span title={hint}>
      <Badge kind={kind}>{label}</Badge>
    </span>
  )
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
function When({ value, never, noted }: { value: string; never: string; noted?: number }) {
  useDates()
  if (!value) return <span className="soft">{never}</span>
  const date = new Date(value)
  return (
    <time className="soft" dateTime={value} title={zonedDate(date)}>
      {noted ? lastTime(date, noted) : ago(date)}
    </time>
  )
}
