import { useQuery } from '@tanstack/react-query'
import { api, apiKey, apiQuery, useChange, useMe, type Schema } from '../../api'
import ServiceFreezesDialog from '../../requests/freezes'
import { ProtectedMark } from '../../requests/line'
import { Page, useUrlState } from '../../shell'
import { Badge, IconButton, Icons, Switch, isProduction, number, plural, productionText, useConfirm, useUnasked, words } from '../../ui'
import { EnvironmentDialog } from './environmentdialog'
import { Create, List, deleteEntry, useEdited } from './list'
import { moved, positions } from './order'
import './settings.css'

type Environment = Schema<'CountedEnvironment'>
type EnvironmentList = Schema<'EnvironmentList'>

const key = apiKey('/api/admin/environments')
/** What shows environments. */
const affected = ['/api/admin/environments', '/api/admin/projects', '/api/admin/api-tokens']

const update =
  (change: (environments: Environment[]) => Environment[]) =>
  (list: EnvironmentList): EnvironmentList => ({ ...list, environments: change(list.environments) })

/** The environments of the service and their order. */
export default function EnvironmentsPage() {
  const me = useMe()
  const environments = useQuery(apiQuery('/api/admin/environments'))
  const [view, setView] = useUrlState({ freezes: '' })
  const list = environments.data?.environments ?? []
  const frozen = list.find((one) => one.name === view.freezes)
  const edited = useEdited(
    list,
    (one) => one.name,
    (close, one) => <EnvironmentDialog environment={one} onClose={close} invalidates={affected} />,
  )
  const [unasked, setUnasked] = useUnasked()
  const updateReason = me.can('UPDATE_ENVIRONMENT').reason

  const send = ({ name, enabled }: { name: string; enabled: boolean }) =>
    enabled
      ? api.post('/api/admin/environments/{environmentName}/on', { path: { environmentName: name } })
      : api.post('/api/admin/environments/{environmentName}/off', { path: { environmentName: name } })
  const toggle = useChange({
    change: send,
    invalidates: affected,
    success: (_, { name, enabled }) => `New projects ${enabled ? 'get' : 'do not get'} ${name}`,
    undo: ({ name, enabled }) => send({ name, enabled: !enabled }),
    optimistic: ({ name, enabled }) => [{ key, update: update((old) => old.map((one) => (one.name === name ? { ...one, enabled } : one))) }],
  })
  const setOrder = (next: Environment[]) => api.put('/api/admin/environments/sort-order', { body: positions(next.map((one) => one.name)) })
  const reorder = useChange({
    change: ({ next }: { next: Environment[]; before: Environment[] }) => setOrder(next),
    invalidates: affected,
    success: 'The order is saved',
    undo: ({ before }) => setOrder(before),
    optimistic: ({ next }) => [{ key, update: update(() => next) }],
  })

  const deletion = useChange({
    change: ({ name }: Environment) => api.delete('/api/admin/environments/{environmentName}', { path: { environmentName: name } }),
    invalidates: affected,
    success: (_, { name }) => `Environment ${name} deleted`,
    showsErrors: true,
  })
  const [remove, question] = useConfirm((environment: Environment) => ({
    title: `Delete environment ${environment.name}?`,
    description: `It is removed from ${plural(environment.projectCount ?? 0, 'project')}, with the strategies and switches that flags have in it. ${plural(environment.apiTokenCount ?? 0, 'API token')} can use it; tokens for this environment only stop working at once. This cannot be undone.${productionText(environment)}`,
    action: 'Delete environment',
    typeToConfirm: environment.name,
    onConfirm: () => deletion.mutateAsync(environment),
  }))
  const create = (
    <Create reason={me.can('CREATE_ENVIRONMENT').reason} onClick={edited.create}>
      Create environment
    </Create>
  )
  return (
    <Page title="Environments" description="Each flag has a switch and strategies of its own in every environment." actions={create}>
      <List
        noun="environment"
        query={environments}
        rows={environments.data?.environments}
        rowKey={(one) => one.name}
        nameOf={(one) => one.name}
        columns={[
          {
            id: 'name',
            header: 'Name',
            cell: (one) => (
              <span className="row cell-name">
                <span className="strong break">{one.name}</span>
                {one.requiredApprovals && <ProtectedMark />}
              </span>
            ),
          },
          { id: 'type', header: 'Type', cell: (one) => (isProduction(one) ? <Badge kind="accent">Production</Badge> : words(one.type)) },
          {
            id: 'asks',
            header: 'Asks before changes',
            cell: (one) =>
              isProduction(one) ? (
                <Switch label={`Ask before changes in ${one.name}`} checked={!unasked.has(one.name)} onChange={(asks) => setUnasked(one.name, !asks)} />
              ) : (
                <span className="soft">–</span>
              ),
          },
          {
            id: 'enabled',
            header: 'Added to new projects',
            cell: (one) => (
              <Switch
                label={`Add ${one.name} to new projects`}
                checked={one.enabled}
                disabledReason={updateReason}
                onChange={(enabled) => toggle.mutate({ name: one.name, enabled })}
              />
            ),
          },
          { id: 'projects', header: 'Projects', align: 'right', cell: (one) => number(one.projectCount ?? 0) },
          { id: 'tokens', header: 'API tokens', align: 'right', cell: (one) => number(one.apiTokenCount ?? 0) },
          {
            id: 'order',
            header: 'Order',
            width: '96px',
            cell: (one) => (
              <OrderButtons
                name={one.name}
                index={list.indexOf(one)}
                count={list.length}
                reason={updateReason}
                onMove={(from, to) => reorder.mutate({ next: moved(list, from, to), before: list })}
              />
            ),
          },
        ]}
        actions={(one) => [
          { label: 'Change type and rules', icon: <Icons.Edit />, onSelect: () => edited.edit(one), disabledReason: updateReason },
          { label: 'Freezes in all projects', icon: <Icons.Clock />, onSelect: () => setView({ freezes: one.name }, { push: true }) },
          deleteEntry(() => remove(one), one.protected ? 'This environment is protected.' : me.can('DELETE_ENVIRONMENT').reason),
        ]}
        icon={<Icons.Globe />}
        empty="A flag has no switch without an environment."
      />
      {edited.dialog}
      {frozen && <ServiceFreezesDialog environment={frozen.name} reason={updateReason} onClose={() => setView({ freezes: '' })} />}
      {question}
    </Page>
  )
}

interface OrderButtonsProps {
  name: string
  index: number
  count: number
  reason?: string
  onMove: (from: number, to: number) => void
}

function OrderButtons({ name, index, count, reason, onMove }: OrderButtonsProps) {
  return (
    <span className="row nowrap-row chips">
      <IconButton
        size="small"
        label={`Move ${name} up`}
        icon={<Icons.Up />}
        disabledReason={reason ?? (index === 0 ? 'It is the first.' : undefined)}
        onClick={() => onMove(index, index - 1)}
      />
      <IconButton
        size="small"
        label={`Move ${name} down`}
        icon={<Icons.Down />}
        disabledReason={reason ?? (index === count - 1 ? 'It is the last.' : undefined)}
        onClick={() => onMove(index, index + 1)}
      />
    </span>
  )
}
