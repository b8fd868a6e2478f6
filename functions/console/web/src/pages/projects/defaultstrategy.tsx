import { useQuery } from '@tanstack/react-query'
import { api, apiQuery, useChange, type Schema } from '../../api'
import { ConstraintList } from '../../constraints'
import { FormActions, useForm } from '../../forms'
import { Checkbox, Dialog, Loaded, Loading, NumberField, Select, TextField, words } from '../../ui'
import { MultiCombobox } from '../../ui/combobox'
import { useStickinessChoices } from './stickiness'
import { requestWith, valuesOf } from './strategy'

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
  const types = useQuery(apiQuery('/api/admin/strategies'))
  const segments = useQuery(apiQuery('/api/admin/segments'))
  const save = useChange({
    change: (body: Schema<'NewStrategyRequest'>) =>
      api.post('/api/admin/projects/{projectId}/environments/{environment}/default-strategy', { path: { projectId, environment }, body }),
    invalidates: ['/api/admin/environments', '/api/admin/projects'],
    success: `The default strategy in ${environment} is saved.`,
    showsErrors: true,
    onSuccess: onClose,
  })
  const form = useForm({
    initial: valuesOf(strategy, stickiness),
    pointers: { rollout: '/parameters/rollout', stickiness: '/parameters/stickiness' },
    submit: (values) => save.mutateAsync(requestWith(values, strategy)),
  })
  const stickinesses = useStickinessChoices(form.values.stickiness)
  if (types.isPending || segments.isPending) return <Loading lines={6} />
  const names = (types.data?.strategies ?? []).filter((type) => !type.deprecated || type.name === strategy?.name)
  const usable = (segments.data?.segments ?? []).filter((segment) => !segment.project || segment.project === projectId)
  const gradual = form.values.name === 'flexibleRollout'
  return (
    <form {...form.props}>
      <div className="columns">
        <Select label="Type" choices={names.map((type) => ({ value: type.name, label: type.displayName || words(type.name) }))} {...form.field('name')} />
        <TextField label="Title" maxLength={255} {...form.field('title')} />
      </div>
      {gradual ? (
        <div className="columns">
          <NumberField label="Rollout" unit="% of users" min={0} max={100} step={1} {...form.field('rollout')} />
          <Select label="Stickiness" choices={stickinesses} hint="What keeps a user in the same group." {...form.field('stickiness')} />
        </div>
      ) : (
        form.values.name !== 'default' && <p className="soft">The parameters keep their present values, or get the defaults of the type. Change them in each flag.</p>
      )}
      <fieldset className="field">
        <legend className="field-label">Constraints</legend>
        <ConstraintList value={form.values.constraints} onChange={(constraints) => form.set({ constraints })} errors={form.errors.byPointer} />
      </fieldset>
      <MultiCombobox
        label="Segments"
        placeholder="Choose segments"
        emptyText="No segment matches."
        choices={usable.map((segment) => ({ value: String(segment.id), label: segment.name }))}
        {...form.field('segments')}
      />
      <Checkbox label="Disabled" hint="Flags get the strategy, but it is not evaluated." checked={form.values.disabled} onChange={(disabled) => form.set({ disabled })} />
      {strategy && <p className="soft small">The default strategy can be changed, but not removed.</p>}
      <FormActions form={form} submit="Save default strategy" onCancel={onClose} />
    </form>
  )
}
