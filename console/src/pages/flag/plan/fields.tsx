// What the forms of plans and templates have in common.
import { useState, type ReactNode } from 'react'
import { useMe } from '../../../api'
import { FormActions, useForm } from '../../../forms'
import { Button, Dialog, Icons, IconButton, NumberField, Select, TextField } from '../../../ui'
import { SuggestField } from '../../../ui/suggest'
import { NewSignal } from '../../settings/signals'
import type { Flag } from '../data'
import { describeStrategy } from '../strategy/describe'
import { StrategyFields, checkDraft } from '../strategy/form'
import { useSegmentNames } from '../strategy/list'
import { newStrategy, type StrategyDraft } from '../strategy/model'
import { useSignals } from './data'
import {
  audienceOf,
  isNarrowed,
  maxMilestones,
  maxSafeguards,
  milestoneFor,
  milestoneName,
  percentOf,
  withPercent,
  type MilestoneDraft,
  type PlanDraft,
  type SafeguardDraft,
} from './model'
import type { End } from './words'
import './plan.css'

interface FieldsProps {
  values: Pick<PlanDraft, 'milestones' | 'safeguards'>
  onChange: (change: Partial<Pick<PlanDraft, 'milestones' | 'safeguards'>>) => void
  errorAt: (pointer: string) => string | undefined
  /** The flag of a plan; absent for a template. */
  flag?: Flag
  environment?: string
  stickiness?: string
}

/** The milestones and safeguards of a plan or a template. */
export function PlanFields({ values, onChange, errorAt, flag, environment, stickiness }: FieldsProps) {
  const { milestones } = values
  const set = (index: number, change: Partial<MilestoneDraft>) =>
    onChange({ milestones: milestones.map((one, at) => (at === index ? { ...one, ...change } : one)) })
  // In this order: the errors of parts are shown at the parts, and are not repeated below the list.
  const errors = milestones.map((_, index) => errorAt(`/milestones/${index}`))
  const error = errorAt('/milestones')
  return (
    <>
      <section className="form-group stack">
        <h3>Milestones</h3>
        <div className="plan-row plan-head small soft" aria-hidden="true">
          <span className="plan-row-fields">
            <span>Percentage</span>
            <span>Name</span>
            <span>Next milestone</span>
          </span>
        </div>
        <ol className="plan-rows" aria-label="Milestones">
          {milestones.map((milestone, index) => (
            <MilestoneRow
              key={index}
              milestone={milestone}
              index={index}
              count={milestones.length}
              flag={flag}
              stickiness={stickiness}
              error={errors[index]}
              onChange={(change) => set(index, change)}
              onRemove={() => onChange({ milestones: milestones.toSpliced(index, 1) })}
            />
          ))}
        </ol>
        <AddOne
          what="milestone"
          full={milestones.length >= maxMilestones && maxMilestones}
          error={error}
          onAdd={() => onChange({ milestones: [...milestones, milestoneFor(100, milestones.at(-1)?.end ?? { unit: 'hand', count: 1 }, stickiness)] })}
        />
      </section>
      <SafeguardFields
        values={values.safeguards}
        onChange={(safeguards) => onChange({ safeguards })}
        errorAt={errorAt}
        project={flag?.project}
        environment={environment}
      />
    </>
  )
}

interface RowProps {
  milestone: MilestoneDraft
  index: number
  count: number
  flag?: FieldsProps['flag']
  stickiness?: string
  error?: string
  onChange: (change: Partial<MilestoneDraft>) => void
  onRemove: () => void
}

function MilestoneRow({ milestone, index, count, flag, stickiness, error, onChange, onRemove }: RowProps) {
  const [edited, edit] = useState<number>()
  const names = useSegmentNames()
  const { strategies } = milestone
  const share = percentOf(milestone)
  const label = `Milestone ${index + 1}`
  const said = share === undefined || strategies.some(isNarrowed)
  return (
    <li className="plan-row">
      <span className="step-mark" aria-hidden="true">
        {index + 1}
      </span>
      <div className="plan-row-fields">
        {share !== undefined && (
          <NumberField
            hideLabel
            label={`${label}: percentage`}
            min={0}
            max={100}
            step={1}
            unit="%"
            value={Number.isNaN(share) ? null : share}
            onChange={(value) => onChange(withPercent(milestone, value))}
          />
        )}
        <TextField
          hideLabel
          label={`${label}: name`}
          maxLength={255}
          placeholder={milestoneName({ ...milestone, name: '' }, index)}
          value={milestone.name}
          onChange={(name) => onChange({ name })}
        />
        {index < count - 1 ? (
          <EndField label={label} value={milestone.end} onChange={(end) => onChange({ end })} />
        ) : (
          <span className="plan-stays soft">Stays</span>
        )}
      </div>
      <span className="plan-row-actions">
        <IconButton size="small" label={`${label}: edit who gets it`} icon={<Icons.Edit />} onClick={() => edit(0)} />
        <IconButton
          size="small"
          label={`Remove milestone ${index + 1}`}
          icon={<Icons.Trash />}
          disabledReason={count === 1 ? 'A plan has at least one milestone.' : undefined}
          onClick={onRemove}
        />
      </span>
      {said && (
        <div className="plan-row-more small">
          {strategies.map((one, at) => (
            <p key={at} className="break">
              {at > 0 && 'or '}
              <button type="button" className="link-button" onClick={() => edit(at)}>
                {describeStrategy(one, names).replace(/\.$/, '')}
              </button>
              {one.disabled && ' (disabled)'}
              {strategies.length > 1 && (
                <IconButton
                  size="small"
                  label={`${label}: remove strategy ${at + 1}`}
                  icon={<Icons.Close />}
                  onClick={() => onChange({ strategies: strategies.toSpliced(at, 1) })}
                />
              )}
            </p>
          ))}
          <button type="button" className="link-button soft" onClick={() => edit(strategies.length)}>
            Add a strategy
          </button>
        </div>
      )}
      {error && (
        <p className="field-error plan-row-more" role="alert">
          {error}
        </p>
      )}
      {edited !== undefined && (
        <MilestoneStrategy
          title={`Who gets it at ${milestoneName(milestone, index)}?`}
          strategy={strategies[edited]}
          flag={flag}
          stickiness={stickiness}
          onClose={() => edit(undefined)}
          onSave={(strategy) => onChange({ strategies: strategies.toSpliced(edited, 1, strategy) })}
        />
      )}
    </li>
  )
}

const unitsFor = (count: number | null) => [
  { value: 'hand' as const, label: 'by hand' },
  ...(['minutes', 'hours', 'days'] as const).map((value) => ({ value, label: count === 1 ? value.slice(0, -1) : value })),
]

/** When the next milestone starts. label is the milestone. */
export function EndField({ label, value, onChange }: { label: string; value: End; onChange: (value: End) => void }) {
  return (
    <div className="plan-end">
      {value.unit !== 'hand' && (
        <>
          <span className="soft">after</span>
          <NumberField hideLabel label={`${label}: lasts`} min={1} step={1} value={value.count} onChange={(count) => onChange({ ...value, count })} />
        </>
      )}
      <div className="grow">
        <Select
          hideLabel
          label={`${label}: ends`}
          choices={unitsFor(value.unit === 'hand' ? null : value.count)}
          value={value.unit}
          onChange={(unit) => onChange({ ...value, unit })}
        />
      </div>
    </div>
  )
}

interface StrategyProps {
  title: string
  /** Undefined for a new one. */
  strategy?: StrategyDraft
  flag?: FieldsProps['flag']
  stickiness?: string
  onClose: () => void
  onSave: (strategy: StrategyDraft) => void
}

/** The form of a strategy of a milestone, which is saved with the plan. */
function MilestoneStrategy({ title, strategy, flag, stickiness, onClose, onSave }: StrategyProps) {
  const [initial] = useState(() => strategy ?? newStrategy(stickiness))
  const names = useSegmentNames()
  const form = useForm<StrategyDraft>({
    initial,
    check: checkDraft,
    submit: async (values) => {
      onSave(values)
      onClose()
    },
  })
  return (
    <Dialog open sheet onClose={onClose} title={title}>
      <form {...form.props}>
        <StrategyFields form={form} initial={initial} stickiness={stickiness} flag={flag} />
        <FormActions
          form={form}
          submit="Apply"
          onCancel={onClose}
          sentence={<p className="strong at-once-text">{audienceOf([form.values], names) || 'Disabled'}</p>}
        />
      </form>
    </Dialog>
  )
}

interface SafeguardsProps {
  values: readonly SafeguardDraft[]
  onChange: (values: SafeguardDraft[]) => void
  errorAt: (pointer: string) => string | undefined
  project?: string
  environment?: string
}

/** What stops a plan: signals, or alarms of CloudWatch. */
export function SafeguardFields({ values, onChange, errorAt, project, environment }: SafeguardsProps) {
  const signals = useSignals(project ?? '', environment ?? '', Boolean(project && environment))
  const createReason = useMe().can('CREATE_PROJECT_API_TOKEN', project, environment).reason
  const [creating, create] = useState(false)
  const set = (index: number, change: Partial<SafeguardDraft>) => onChange(values.map((one, at) => (at === index ? { ...one, ...change } : one)))
  const errors = values.map((_, index) => errorAt(`/safeguards/${index}`))
  const error = errorAt('/safeguards')
  const full = values.length >= maxSafeguards && maxSafeguards
  return (
    <section className="form-group stack">
      <div>
        <h3>Safeguards</h3>
        <p className="soft small">
          Stop the rollout when a signal or an alarm fires, also during a freeze.
          {!environment && ' A signal is looked up in the environment where the template is used.'}
        </p>
      </div>
      {values.length > 0 && (
        <ul className="plan-rows" aria-label="Safeguards">
          {values.map((one, index) => (
            <li key={index} className="plan-row plan-safeguard">
              <SuggestField
                label="When this fires"
                placeholder="checkout-errors, or arn:aws:cloudwatch:…"
                maxLength={300}
                suggestions={signals.map(({ name }) => ({ value: name, note: 'signal' }))}
                value={one.signal}
                onChange={(signal) => set(index, { signal })}
                error={errors[index]}
              />
              <Select
                label="Then"
                choices={[
                  { value: 'pause' as const, label: 'Pause the plan' },
                  { value: 'off' as const, label: 'Switch the flag off' },
                ]}
                value={one.action}
                onChange={(action) => set(index, { action })}
              />
              <IconButton size="small" label={`Remove safeguard ${index + 1}`} icon={<Icons.Trash />} onClick={() => onChange(values.toSpliced(index, 1))} />
            </li>
          ))}
        </ul>
      )}
      <AddOne what="safeguard" full={full} error={error} onAdd={() => onChange([...values, { signal: '', action: 'off' }])}>
        {project && environment && (
          <Button size="small" variant="quiet" disabledReason={createReason} onClick={() => create(true)}>
            Create signal
          </Button>
        )}
      </AddOne>
      {creating && (
        <NewSignal
          projectId={project!}
          environments={[{ value: environment!, label: environment! }]}
          onClose={(signal) => {
            create(false)
            const empty = values.findIndex((one) => one.signal.trim() === '')
            if (signal && empty >= 0) set(empty, { signal })
            else if (signal && !full) onChange([...values, { signal, action: 'off' }])
          }}
        />
      )}
    </section>
  )
}

interface AddProps {
  what: string
  /** How many there can be, if there are as many. */
  full: number | false
  /** What is wrong with the list as a whole. */
  error?: string
  onAdd: () => void
  /** Buttons beside that for another row. */
  children?: ReactNode
}

/** The end of a list of rows: what is wrong with it, and the button for another one. */
function AddOne({ what, full, error, onAdd, children }: AddProps) {
  return (
    <>
      {error && (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
      <div className="row">
        <Button size="small" icon={<Icons.Plus />} disabledReason={full ? `At most ${full} ${what}s.` : undefined} onClick={onAdd}>
          Add {what}
        </Button>
        {children}
      </div>
    </>
  )
}
