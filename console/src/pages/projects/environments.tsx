import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api, apiQuery, useChange, useMe, type Schema } from '../../api'
import { SkipsFreeze } from '../../requests/freeze'
import { Freezes } from '../../requests/freezes'
import { useProtection } from '../../requests/drafts'
import { useUrlState } from '../../shell'
import {
  ActionMenu,
  Badge,
  Button,
  ConfirmDialog,
  EmptyState,
  Facts,
  Icons,
  Loaded,
  Menu,
  Notice,
  ProductionMark,
  Section,
  isProduction,
  number,
  plural,
  productionText,
  words,
} from '../../ui'
import { describeStrategy } from '../flag/strategy/describe'
import { useSegmentNames } from '../flag/strategy/list'
import { strategyDraft, strategyRequest } from '../flag/strategy/model'
import { isOn } from '../flags/rows'
import { DefaultStrategyDialog } from './defaultstrategy'
import { ProtectionDialog } from './protection'
import { switchOn } from './restore'

type Environment = Schema<'ProjectEnvironment'>

const basePath = '/api/admin/projects/{projectId}/environments'
const invalidates = ['/api/admin/environments', '/api/admin/projects', '/api/admin/search']

/** The environments of a project: in them its flags can be switched on. */
export default function EnvironmentsTab() {
  const { projectId } = useParams({ from: '/projects/$projectId' })
  const environments = useQuery(apiQuery('/api/admin/environments/project/{projectId}', { path: { projectId } }))
  return <Loaded query={environments}>{(data) => <Environments projectId={projectId} attached={data.environments} />}</Loaded>
}

function Environments({ projectId, attached }: { projectId: string; attached: Environment[] }) {
  const [editing, setEditing] = useState<Environment>()
  const [removing, setRemoving] = useState<Environment>()
  // In the address, so that what a change request stops can lead there.
  const [{ review }, setView] = useUrlState({ review: '' })
  const reviewing = attached.find(({ name }) => name === review)
  const { can } = useMe()
  const reason = can('UPDATE_PROJECT', projectId).reason
  const detach = useDetach(projectId)
  // Removing an environment with active flags changes what applications get, so it asks first.
  const remove = (environment: Environment) => (environment.projectEnabledToggleCount > 0 ? setRemoving(environment) : detach.mutate(environment))
  return (
    <>
      <div className="row-apart">
        <p className="soft grow">Flags can be switched on in these environments. The token of an application determines its environment.</p>
        <AddEnvironment projectId={projectId} attached={attached} reason={reason} />
      </div>
      {attached.length === 0 && (
        <EmptyState icon={<Icons.Globe />} title="No environments">
          No flag of this project can be switched on. Add an environment, such as development or production.
        </EmptyState>
      )}
      {attached.map((environment) => (
        <EnvironmentSection
          key={environment.name}
          environment={environment}
          projectId={projectId}
          reason={reason}
          onReview={() => setView({ review: environment.name }, { push: true })}
          onEdit={() => setEditing(environment)}
          onRemove={() => remove(environment)}
        />
      ))}
      {editing && (
        <DefaultStrategyDialog projectId={projectId} environment={editing.name} strategy={editing.defaultStrategy} onClose={() => setEditing(undefined)} />
      )}
      {reviewing && <ProtectionDialog projectId={projectId} environment={reviewing} onClose={() => setView({ review: '' })} />}
      <ConfirmDialog
        open={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        title={`Remove ${removing?.name} from this project?`}
        description={`${plural(removing?.projectEnabledToggleCount ?? 0, 'flag')} of this project ${removing?.projectEnabledToggleCount === 1 ? 'is' : 'are'} on in it. Applications stop getting them at once. If you add the environment again, the flags have their strategies, but stay off.${removing ? productionText(removing) : ''}`}
        action="Remove environment"
        onConfirm={() => detach.mutateAsync(removing!)}
      >
        {removing && <SkipsFreeze project={projectId} environment={removing.name} />}
      </ConfirmDialog>
    </>
  )
}

function useDetach(projectId: string) {
  return useChange({
    change: async ({ name, projectEnabledToggleCount }: Environment) => {
      const features = projectEnabledToggleCount > 0 ? (await api.get('/api/admin/projects/{projectId}/features', { path: { projectId } })).features : []
      await api.delete(`${basePath}/{environment}`, { path: { projectId, environment: name } })
      return features.filter((row) => isOn(row, name)).map((row) => row.name)
    },
    invalidates,
    success: (_, { name }) => `${name} is removed from this project.`,
    // The flags have their strategies again, but are off.
    undo: async ({ name, defaultStrategy }, wereOn) => {
      await api.post(basePath, {
        path: { projectId },
        body: { environment: name, defaultStrategy: defaultStrategy && strategyRequest(strategyDraft(defaultStrategy)) },
      })
      await switchOn(projectId, name, wereOn)
    },
  })
}

function AddEnvironment({ projectId, attached, reason }: { projectId: string; attached: Environment[]; reason?: string }) {
  const all = useQuery(apiQuery('/api/admin/environments'))
  const add = useChange({
    change: (name: string) => api.post(basePath, { path: { projectId }, body: { environment: name } }),
    invalidates,
    success: (_, name) => `${name} is added to this project.`,
    undo: (name) => api.delete(`${basePath}/{environment}`, { path: { projectId, environment: name } }),
  })
  const others = (all.data?.environments ?? []).filter((environment) => !attached.some(({ name }) => name === environment.name))
  const none = all.data && others.length === 0 ? 'The project has all environments. Administrators create more on the Environments page.' : undefined
  const button = (
    <Button variant="primary" icon={<Icons.Plus />} disabledReason={reason ?? none} pending={add.isPending}>
      Add environment
    </Button>
  )
  if (reason || none) return button
  return <Menu trigger={button} entries={others.map(({ name, type }) => ({ label: `${name} (${type})`, onSelect: () => add.mutate(name) }))} />
}

function Described({ strategy }: { strategy: Schema<'DefaultStrategy'> }) {
  const names = useSegmentNames()
  const types = useQuery({ ...apiQuery('/api/admin/strategies'), staleTime: 60_000 }).data?.strategies
  return (
    <>
      {strategy.title && <span className="strong">{strategy.title}: </span>}
      {describeStrategy(strategyDraft(strategy), names, types)}
    </>
  )
}

interface SectionProps {
  projectId: string
  environment: Environment
  reason?: string
  onReview: () => void
  onEdit: () => void
  onRemove: () => void
}

function EnvironmentSection({ projectId, environment, reason, onReview, onEdit, onRemove }: SectionProps) {
  const found = useProtection(projectId).of(environment.name)
  const mayReview = useMe().can('PROJECT_CHANGE_REQUEST_WRITE', projectId)
  const { name, type, defaultStrategy } = environment
  const title = (
    <span className="row">
      {name} <ProductionMark type={type} />
      {type !== name && !isProduction({ type }) && <Badge>{words(type)}</Badge>}
    </span>
  )
  return (
    <Section
      title={title}
      actions={
        <ActionMenu
          label={`Actions for ${name}`}
          entries={[{ label: 'Remove from the project', icon: <Icons.Trash />, danger: true, onSelect: onRemove, disabledReason: reason }]}
        />
      }
    >
      <Facts
        items={[
          ['Flags that are on', number(environment.projectEnabledToggleCount)],
          ['Tokens of applications', number(environment.projectApiTokenCount)],
        ]}
      />
      <div className="row-apart project-default">
        <p className="grow break">
          <span className="soft">Change requests: </span>
          {found
            ? `on. A change needs ${plural(found.requiredApprovals, 'approval')} before applications see it${found.offAllowed ? ', switching off does not' : ''}.`
            : 'off. Changes apply at once.'}
        </p>
        <Button
          size="small"
          icon={<Icons.Shield />}
          aria-label={`Set change requests in ${name}`}
          disabledReason={mayReview.allowed ? undefined : reason && mayReview.reason}
          onClick={onReview}
        >
          Set
        </Button>
      </div>
      <Freezes projectId={projectId} environment={name} reason={reason} />
      <div className="row-apart project-default">
        <p className="grow break">
          <span className="soft">Default strategy: </span>
          {defaultStrategy ? <Described strategy={defaultStrategy} /> : 'none. A flag needs a strategy of its own before it can be switched on.'}
        </p>
        <Button
          size="small"
          icon={<Icons.Edit />}
          aria-label={`${defaultStrategy ? 'Edit' : 'Set'} the default strategy of ${name}`}
          disabledReason={reason}
          onClick={onEdit}
        >
          {defaultStrategy ? 'Edit' : 'Set'}
        </Button>
      </div>
      {defaultStrategy?.disabled && <Notice kind="warn">The default strategy is disabled: flags get it, but it is not evaluated.</Notice>}
    </Section>
  )
}
