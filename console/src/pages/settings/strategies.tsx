import { useQuery } from '@tanstack/react-query'
import { api, apiQuery, useChange, useMe, type Schema } from '../../api'
import { Page, useUrlState } from '../../shell'
import { ActionMenu, Badge, Button, EmptyState, ErrorState, Icons, Loading, Section, Table, type Column, type MenuEntry } from '../../ui'
import { StrategyDialog, parametersOf } from './strategydialog'
import './settings.css'

type StrategyType = Schema<'StrategyType'>

const paths = ['/api/admin/strategies']

/** The strategy types: built-in ones, and custom ones with their parameters. */
export default function StrategiesPage() {
  const me = useMe()
  const types = useQuery(apiQuery('/api/admin/strategies'))
  const [view, setView] = useUrlState({ edit: '', create: false })
  const all = types.data?.strategies ?? []
  const edited = all.find((type) => type.editable && type.name === view.edit)
  const create = (
    <Button variant="primary" icon={<Icons.Plus />} disabledReason={me.can('CREATE_STRATEGY').reason} onClick={() => setView({ create: true }, { push: true })}>
      Create strategy type
    </Button>
  )
  return (
    <Page
      title="Strategy types"
      description="A strategy decides who gets a flag. Constraints and segments suit most cases; a custom type needs code in each application."
      actions={create}
    >
      {types.error ? (
        <ErrorState error={types.error} onRetry={() => void types.refetch()} />
      ) : types.isPending ? (
        <Loading />
      ) : (
        <div className="stack">
          <Section title="Custom">
            <CustomTypes types={all.filter((type) => type.editable)} onEdit={(name) => setView({ edit: name }, { push: true })} />
          </Section>
          <Section title="Built in" description="Every SDK knows these.">
            <Table label="Built-in strategy types" columns={columns} rows={all.filter((type) => !type.editable)} rowKey={(type) => type.name} />
          </Section>
        </div>
      )}
      {view.create && <StrategyDialog onClose={() => setView({ create: false })} invalidates={paths} disabledReason={me.can('CREATE_STRATEGY').reason} />}
      {edited && !view.create && (
        <StrategyDialog
          key={edited.name}
          type={edited}
          onClose={() => setView({ edit: '' })}
          invalidates={paths}
          disabledReason={me.can('UPDATE_STRATEGY').reason}
        />
      )}
    </Page>
  )
}

const columns: Column<StrategyType>[] = [
  {
    id: 'name',
    header: 'Name',
    width: '26%',
    cell: (type) => (
      <span className="row chips cell-name">
        <span className="strong break">{type.displayName ?? type.title ?? type.name}</span>
        {type.deprecated && <Badge kind="warn">Deprecated</Badge>}
        {(type.displayName ?? type.title) && <code className="soft small break">{type.name}</code>}
      </span>
    ),
  },
  { id: 'description', header: 'Description', cell: (type) => <p className="break cell-text">{type.description}</p> },
  {
    id: 'parameters',
    header: 'Parameters',
    cell: (type) => (
      <ul className="cell-name">
        {type.parameters.map((parameter) => (
          <li key={parameter.name} className="break">
            <code>{parameter.name}</code> <span className="soft small">{parameter.required ? `${parameter.type}, required` : parameter.type}</span>
          </li>
        ))}
        {type.parameters.length === 0 && <li className="soft">None</li>}
      </ul>
    ),
  },
]

function CustomTypes({ types, onEdit }: { types: readonly StrategyType[]; onEdit: (name: string) => void }) {
  const me = useMe()
  const setDeprecated = ({ name }: StrategyType, deprecated: boolean) =>
    deprecated
      ? api.post('/api/admin/strategies/{strategyType}/deprecate', { path: { strategyType: name } })
      : api.post('/api/admin/strategies/{strategyType}/reactivate', { path: { strategyType: name } })
  const deprecate = useChange({
    change: (type: StrategyType) => setDeprecated(type, !type.deprecated),
    invalidates: paths,
    success: (_, type) => `Strategy type ${type.name} ${type.deprecated ? 'reactivated' : 'deprecated'}`,
    undo: (type) => setDeprecated(type, type.deprecated),
  })
  const remove = useChange({
    change: (type: StrategyType) => api.delete('/api/admin/strategies/{strategyType}', { path: { strategyType: type.name } }),
    invalidates: paths,
    success: (_, type) => `Strategy type ${type.name} deleted. Existing strategies stay.`,
    undo: async (type) => {
      await api.post('/api/admin/strategies', { body: { name: type.name, title: type.title, description: type.description, parameters: parametersOf(type) } })
      if (type.deprecated) await setDeprecated(type, true)
    },
  })
  const entries = (type: StrategyType): MenuEntry[] => [
    { label: 'Edit', icon: <Icons.Edit />, onSelect: () => onEdit(type.name), disabledReason: me.can('UPDATE_STRATEGY').reason },
    {
      label: type.deprecated ? 'Reactivate' : 'Deprecate',
      icon: type.deprecated ? <Icons.Undo /> : <Icons.Archive />,
      onSelect: () => deprecate.mutate(type),
      disabledReason: me.can('UPDATE_STRATEGY').reason,
    },
    { label: 'Delete', icon: <Icons.Trash />, danger: true, onSelect: () => remove.mutate(type), disabledReason: me.can('DELETE_STRATEGY').reason },
  ]
  const actions: Column<StrategyType> = {
    id: 'actions',
    header: 'Actions',
    hideHeader: true,
    align: 'right',
    width: '48px',
    cell: (type) => <ActionMenu label={`Actions for ${type.name}`} entries={entries(type)} />,
  }
  return (
    <Table
      label="Custom strategy types"
      columns={[...columns, actions]}
      rows={types}
      rowKey={(type) => type.name}
      empty={
        <EmptyState icon={<Icons.Sliders />} title="No custom strategy types">
          You need one only for a rule that constraints cannot express. Each SDK that evaluates it must have its implementation.
        </EmptyState>
      }
    />
  )
}
