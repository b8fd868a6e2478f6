import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, apiKey, apiQuery, invalidate, useChange, useMe, type Schema } from '../../api'
import ServiceFreezesDialog from '../../requests/freezes'
import { ProtectedMark } from '../../requests/line'
import { Page, useUrlState } from '../../shell'
import {
  ActionMenu,
  Badge,
  Button,
  ConfirmDialog,
  EmptyState,
  ErrorState,
  IconButton,
  Icons,
  Switch,
  Table,
  isProduction,
  number,
  plural,
  productionText,
  toast,
  useUnasked,
  words,
  type Column,
} from '../../ui'
import { EnvironmentDialog } from './environmentdialog'
import { moved, positions } from './order'
import './settings.css'

type Environment = Schema<'CountedEnvironment'>
type List = Schema<'EnvironmentList'>

const key = apiKey('/api/admin/environments')
/** What shows environments. */
const affected = ['/api/admin/environments', '/api/admin/projects', '/api/admin/api-tokens']

const update =
  (change: (environments: Environment[]) => Environment[]) =>
  (list: List): List => ({ ...list, environments: change(list.environments) })

/** The environments of the service and their order. */
export default function EnvironmentsPage() {
  const me = useMe()
  const environments = useQuery(apiQuery('/api/admin/environments'))
  const [view, setView] = useUrlState({ create: false, edit: '', freezes: '' })
  const [deleted, setDeleted] = useState<Environment>()
  const list = environments.data?.environments ?? []
  const edited = list.find((one) => one.name === view.edit)
  const frozen = list.find((one) => one.name === view.freezes)
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

  const columns: Column<Environment>[] = [
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
        isProduction(one) && (
          <Switch label={`Ask before changes in ${one.name}`} checked={!unasked.has(one.name)} onChange={(asks) => setUnasked(one.name, !asks)} />
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
    {
      id: 'actions',
      header: 'Actions',
      hideHeader: true,
      align: 'right',
      width: '48px',
      cell: (one) => (
        <ActionMenu
          label={`Actions for ${one.name}`}
          entries={[
            { label: 'Change type and rules', icon: <Icons.Edit />, onSelect: () => setView({ edit: one.name }, { push: true }), disabledReason: updateReason },
            { label: 'Freezes in all projects', icon: <Icons.Clock />, onSelect: () => setView({ freezes: one.name }, { push: true }) },
            {
              label: 'Delete',
              icon: <Icons.Trash />,
              danger: true,
              onSelect: () => setDeleted(one),
              disabledReason: one.protected ? 'This environment is protected.' : me.can('DELETE_ENVIRONMENT').reason,
            },
          ]}
        />
      ),
    },
  ]
  return (
    <Page
      title="Environments"
      description="Each flag has a switch and strategies of its own in every environment."
      actions={
        <Button
          variant="primary"
          icon={<Icons.Plus />}
          disabledReason={me.can('CREATE_ENVIRONMENT').reason}
          onClick={() => setView({ create: true }, { push: true })}
        >
          Create environment
        </Button>
      }
    >
      {environments.error ? (
        <ErrorState error={environments.error} onRetry={() => void environments.refetch()} />
      ) : (
        <Table
          label="Environments"
          cards
          columns={columns}
          rows={list}
          rowKey={(one) => one.name}
          loading={environments.isPending}
          empty={<EmptyState icon={<Icons.Globe />} title="No environments" />}
        />
      )}
      {view.create && <EnvironmentDialog onClose={() => setView({ create: false })} invalidates={affected} />}
      {edited && !view.create && <EnvironmentDialog key={edited.name} environment={edited} onClose={() => setView({ edit: '' })} invalidates={affected} />}
      {frozen && <ServiceFreezesDialog environment={frozen.name} reason={updateReason} onClose={() => setView({ freezes: '' })} />}
      {deleted && <DeleteDialog environment={deleted} onClose={() => setDeleted(undefined)} />}
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

function DeleteDialog({ environment, onClose }: { environment: Environment; onClose: () => void }) {
  const client = useQueryClient()
  const { name, projectCount, apiTokenCount } = environment
  const remove = async () => {
    await api.delete('/api/admin/environments/{environmentName}', { path: { environmentName: name } })
    await invalidate(client, affected)
    toast.success(`Environment ${name} deleted`)
  }
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`Delete environment ${name}?`}
      description={`It is removed from ${plural(projectCount ?? 0, 'project')}, with the strategies and switches that flags have in it. ${plural(apiTokenCount ?? 0, 'API token')} can use it; tokens for this environment only stop working at once. This cannot be undone.${productionText(environment)}`}
      action="Delete environment"
      typeToConfirm={name}
      onConfirm={remove}
    />
  )
}
