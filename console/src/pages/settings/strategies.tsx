import { useQuery } from '@tanstack/react-query'
import { api, apiQuery, useChange, useMe, type Schema } from '../../api'
import { Page } from '../../shell'
import { Badge, Icons, type Column } from '../../ui'
import { Create, List, deleteEntry, editEntry, useEdited } from './list'
import './settings.css'
import { StrategyDialog, parameterTypes, parametersOf } from './strategydialog'

type StrategyType = Schema<'StrategyType'>

const paths = ['/api/admin/strategies']

/** The strategy types: built-in ones, and custom ones with their parameters. */
export default function StrategiesPage() {
  const me = useMe()
  const types = useQuery(apiQuery('/api/admin/strategies'))
  const all = types.data?.strategies ?? []
  const custom = all.filter((type) => type.editable)
  const [createReason, updateReason] = [me.can('CREATE_STRATEGY').reason, me.can('UPDATE_STRATEGY').reason]
  const edited = useEdited(
    custom,
    (type) => type.name,
    (close, type) => <StrategyDialog type={type} onClose={close} invalidates={paths} disabledReason={type ? updateReason : createReason} />,
  )
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
  return (
    <Page
      title="Strategy types"
      description="A strategy decides who gets a flag. Constraints and segments suit most cases; a custom type needs code in each application."
      actions={
        <Create reason={createReason} onClick={edited.create}>
          Create strategy type
        </Create>
      }
    >
      <List
        noun="strategy type"
        query={types}
        rows={[...custom, ...all.filter((type) => !type.editable)]}
        rowKey={(type) => type.name}
        nameOf={(type) => type.name}
        columns={columns}
        actions={(type) =>
          type.editable
            ? [
                editEntry(() => edited.edit(type), updateReason),
                {
                  label: type.deprecated ? 'Reactivate' : 'Deprecate',
                  icon: type.deprecated ? <Icons.Undo /> : <Icons.Archive />,
                  onSelect: () => deprecate.mutate(type),
                  disabledReason: updateReason,
                },
                deleteEntry(() => remove.mutate(type), me.can('DELETE_STRATEGY').reason),
              ]
            : []
        }
      />
      {edited.dialog}
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
        {(type.displayName ?? type.title) && <code className="soft small break">{type.name}</code>}
        {!type.editable && <Badge>Built in</Badge>}
        {type.deprecated && <Badge>Deprecated</Badge>}
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
            <code>{parameter.name}</code> <span className="soft small">{parameterType(parameter)}</span>
          </li>
        ))}
        {type.parameters.length === 0 && <li className="soft">None</li>}
      </ul>
    ),
  },
]

function parameterType({ type, required }: StrategyType['parameters'][number]) {
  const label = parameterTypes.find(({ value }) => value === type)?.label.toLowerCase() ?? type
  return required ? `${label}, required` : label
}
