import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, apiQuery, type Schema } from '../../api'
import { ConstraintList } from '../../constraints'
import { FormActions, useChangeForm } from '../../forms'
import { Checkbox, Dialog, Loaded, Select, TextField } from '../../ui'
import '../flag/flag.css'
import { describeStrategy } from '../flag/strategy/describe'
import { SegmentsField, parametersFor, typeChoices } from '../flag/strategy/form'
import { useSegmentNames } from '../flag/strategy/list'
import { maxTitle, newStrategy, strategyDraft, strategyRequest, type StrategyDraft } from '../flag/strategy/model'
import { Parameters } from '../flag/strategy/parameters'

interface Props {
  projectId: string
  environment: string
  /** The present default strategy, if there is one. */
  strategy?: Schema<'DefaultStrategy'>
  onClose: () => void
}

/** Sets the strategy that flags of a project get when they are switched on in an environment. Mount it only while it is open. */
export function DefaultStrategyDialog(props: Props) {
  const { projectId, environment, onClose } = props
  const project = useQuery(apiQuery('/api/admin/projects/{projectId}/overview', { path: { projectId } }))
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={`Default strategy in ${environment}`}
      description="A flag without strategies gets this one when it is switched on. Strategies that flags already have stay as they are."
    >
      <Loaded query={project}>{({ defaultStickiness }) => <StrategyForm {...props} stickiness={defaultStickiness} />}</Loaded>
    </Dialog>
  )
}

function StrategyForm({ projectId, environment, strategy, stickiness, onClose }: Props & { stickiness: string }) {
  const types = useQuery({ ...apiQuery('/api/admin/strategies'), staleTime: 60_000 }).data?.strategies
  const names = useSegmentNames()
  const initial = strategy ? strategyDraft(strategy) : newStrategy(stickiness)
  const [before] = useState(strategy)
  const requestOf = (values: StrategyDraft) =>
    api.request.post('/api/admin/projects/{projectId}/environments/{environment}/default-strategy', {
      path: { projectId, environment },
      body: strategyRequest(values),
    })
  const form = useChangeForm<StrategyDraft, unknown>({
    initial,
    change: (values: StrategyDraft) => api.send(requestOf(values)),
    invalidates: ['/api/admin/environments', '/api/admin/projects'],
    success: `The default strategy in ${environment} is saved.`,
    undo: before && (() => api.send(requestOf(strategyDraft(before)))),
    onSuccess: onClose,
  })
  const { values } = form
  form.errorAt('/constraints')
  return (
    <form {...form.props}>
      <Select
        label="Type"
        choices={typeChoices(types, values.name)}
        value={values.name}
        onChange={(name) => form.set({ name, parameters: parametersFor(name, initial, stickiness) })}
        error={form.errorAt('/name')}
      />
      <Parameters
        draft={values}
        type={types?.find((type) => type.name === values.name)}
        errorAt={form.errorAt}
        onChange={(parameters) => form.set({ parameters })}
      />
      <SegmentsField projectId={projectId} value={values.segments} onChange={(segments) => form.set({ segments })} error={form.errorAt('/segments')} />
      <fieldset className="field">
        <legend className="field-label">Constraints</legend>
        <ConstraintList value={values.constraints} onChange={(constraints) => form.set({ constraints })} errors={form.errors.byPointer} />
      </fieldset>
      <TextField label="Title" maxLength={maxTitle} hint="Optional. Says what the strategy is for, for example: Beta users." {...form.field('title')} />
      <Checkbox
        label="Disabled"
        hint="Flags get the strategy, but it is not evaluated."
        checked={values.disabled}
        onChange={(disabled) => form.set({ disabled })}
      />
      <p className="strong break">{describeStrategy(values, names, types)}</p>
      {strategy && <p className="soft small">The default strategy can be changed, but not removed.</p>}
      <FormActions form={form} submit="Save default strategy" onCancel={onClose} />
    </form>
  )
}
