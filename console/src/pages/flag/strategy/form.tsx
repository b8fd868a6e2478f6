import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { apiQuery, type Schema, type Versioned } from '../../../api'
import { ConstraintList } from '../../../constraints'
import { FormActions, useForm } from '../../../forms'
import { Checkbox, Dialog, Notice, Notices, Select, TextField, isProduction, type Choice } from '../../../ui'
import { MultiCombobox } from '../../../ui/combobox'
import { GoesOff, useAtOnce } from '../atonce'
import { useProject, useReasons, type Flag, type FlagEnvironment } from '../data'
import { VariantListEditor } from '../variants/list'
import { LostVariants } from '../variants/lost'
import { weightProblem } from '../variants/model'
import { switchesOff } from './changes'
import { StrategyConflict } from './conflict'
import { describeStrategy, onlyWhere, stickinessOf } from './describe'
import { strategyDifferences, widens } from './difference'
import { useSegmentNames } from './list'
import { maxSegments, maxTitle, newStrategy, percentageName, strategyDraft, type Strategy, type StrategyDraft, type StrategyType } from './model'
import { Parameters } from './parameters'
import { NewSegment } from './newsegment'
import { useSaveStrategy } from './save'

interface StrategyFormProps {
  flag: Flag
  environment: FlagEnvironment
  title: string
  /** The strategy to edit with its version; undefined for a new one. */
  stored?: Versioned<Strategy>
  switchOn: boolean
  /** What is stored here is in the caller's draft. */
  drafted?: boolean
  onClose: () => void
  /** Saves the strategy in a change request instead. */
  saveInstead?: (strategy: Schema<'NewStrategyRequest'>) => Promise<unknown>
}

/** The form of a strategy in a dialog. */
export function StrategyForm({ flag, environment, title, stored, switchOn, drafted, onClose, saveInstead }: StrategyFormProps) {
  const project = useProject(flag.project)
  const atOnce = useAtOnce(flag, environment, environment.enabled || switchOn)
  const types = useQuery({ ...apiQuery('/api/admin/strategies'), staleTime: 60_000 }).data?.strategies
  const names = useSegmentNames()
  const [initial, setInitial] = useState(() =>
    stored ? strategyDraft(stored.body) : newStrategy(project?.defaultStickiness, isProduction(environment) ? 10 : 100),
  )
  const save = useSaveStrategy({ flag, environment, stored, switchOn, onSaved: onClose, saveInstead })
  const form = useForm<StrategyDraft>({ initial, submit: save.submit, check: checkDraft })
  const { values } = form
  const reload = (latest: Strategy | undefined) => {
    if (!latest) return
    setInitial(strategyDraft(latest))
    form.reset(strategyDraft(latest))
  }
  const inWords = (draft: StrategyDraft) => (draft.disabled ? 'Disabled' : describeStrategy(draft, names, types).slice(0, -1))
  const reason = useReasons(flag)(stored ? 'UPDATE_FEATURE_STRATEGY' : 'CREATE_FEATURE_STRATEGY', environment.name)
  return (
    <Dialog open sheet onClose={onClose} title={title}>
      <form {...form.props}>
        <Notices
          of={[
            save.removed && <Notice title="This strategy was removed while you were editing it">Saving adds it again.</Notice>,
            drafted && <Notice>Your draft already changes this strategy. The form has what it proposes.</Notice>,
          ]}
        />
        <StrategyFields form={form} initial={initial} stickiness={project?.defaultStickiness} flag={flag} />
        <FormActions
          form={form}
          submit={saveInstead ? 'Save in the request' : atOnce.label(stored ? 'Save strategy' : switchOn ? 'Add strategy and switch on' : 'Add strategy')}
          onCancel={onClose}
          disabledReason={saveInstead ? undefined : reason}
          sentence={
            <>
              {(!saveInstead &&
                (!stored || form.dirty) &&
                atOnce.line({
                  before: stored && inWords(initial),
                  after: inWords(values),
                  differences: stored && strategyDifferences(initial, values, names),
                  widens: widens(stored && initial, values),
                  narrows: stored && widens(values, initial),
                  children: stored && values.disabled && switchesOff(environment, stored.body) && <GoesOff flag={flag} />,
                })) || <p className="strong at-once-text">{inWords(values)}</p>}
              {flag.dependencies.length > 0 && <p className="soft">{onlyWhere(flag.dependencies)}</p>}
              {!environment.enabled && !switchOn && <p className="soft">Applies when the flag is switched on.</p>}
            </>
          }
        />
      </form>
      {save.conflict && (
        <StrategyConflict
          conflict={save.conflict}
          mine={values}
          names={names}
          types={types}
          onClose={save.dismiss}
          onReload={() => reload(save.acceptLatest())}
          onOverwrite={() => {
            save.acceptLatest()
            void form.submit()
          }}
          pending={form.pending}
        />
      )}
    </Dialog>
  )
}

interface FieldsProps {
  form: ReturnType<typeof useForm<StrategyDraft>>
  /** What the form started with. */
  initial: StrategyDraft
  /** The stickiness that the project suggests. */
  stickiness?: string
  /** Absent for a template, which can have the segments of all projects. */
  flag?: Flag
}

/** The fields of a strategy. */
export function StrategyFields({ form, initial, stickiness, flag }: FieldsProps) {
  const types = useQuery({ ...apiQuery('/api/admin/strategies'), staleTime: 60_000 }).data?.strategies
  const { values } = form
  const type = types?.find((one) => one.name === values.name)
  const errorAt = (pointer: string) => form.errorAt(pointer)
  // The constraints show these errors, so they are claimed here: otherwise they would also be in the list of other errors.
  form.errorAt('/constraints')
  return (
    <>
      <Group title="Who gets it">
        <Select
          label="Type"
          choices={typeChoices(types, values.name)}
          value={values.name}
          onChange={(name) => form.set({ name, parameters: parametersFor(name, initial, stickiness) })}
          error={errorAt('/name')}
          hint={type?.description ?? undefined}
        />
        <Parameters draft={values} type={type} flag={flag?.name} errorAt={errorAt} onChange={(parameters) => form.set({ parameters })} />
      </Group>
      <Group title="Only if" description="All segments and constraints must hold. For one or the other, add another strategy.">
        <SegmentsField projectId={flag?.project} value={values.segments} onChange={(segments) => form.set({ segments })} error={errorAt('/segments')} />
        <h4 className="field-label">Constraints</h4>
        <ConstraintList value={values.constraints} onChange={(constraints) => form.set({ constraints })} errors={form.errors.byPointer} />
      </Group>
      <Group title="Variants" description="For those who get the flag by this strategy, instead of the variants of the environment.">
        <VariantListEditor
          value={values.variants}
          onChange={(variants) => form.set({ variants })}
          errorAt={errorAt}
          basePath="/variants"
          stickiness={percentageName(values) ? stickinessOf(values) : 'default'}
          valueType={flag?.valueType}
        />
        {flag && <LostVariants flag={flag} before={initial.variants} after={values.variants} />}
      </Group>
      <Group title="Title">
        <TextField label="Title" maxLength={maxTitle} {...form.field('title')} hideLabel placeholder="Beta users" />
        <Checkbox label="Disabled" checked={values.disabled} onChange={(disabled) => form.set({ disabled })} />
      </Group>
    </>
  )
}

function Group({ title, description, children }: { title: string; description?: string; children: ReactNode }) {
  return (
    <section className="form-group stack">
      <div>
        <h3>{title}</h3>
        {description && <p className="soft small">{description}</p>}
      </div>
      {children}
    </section>
  )
}

interface SegmentsProps {
  projectId?: string
  value: number[]
  onChange: (value: number[]) => void
  error?: string
}

/** Chooses the segments of a strategy. */
export function SegmentsField({ projectId, value, onChange, error }: SegmentsProps) {
  const segments = useQuery({ ...apiQuery('/api/admin/segments'), staleTime: 60_000 }).data?.segments ?? []
  const usable = segments.filter((segment) => !segment.project || !projectId || segment.project === projectId || value.includes(segment.id))
  const full = value.length >= maxSegments
  const choices = usable.map((segment) => ({ value: String(segment.id), label: segment.name, disabled: full && !value.includes(segment.id) }))
  const most = `At most ${maxSegments} segments.`
  return (
    <>
      <MultiCombobox
        label="Segments"
        choices={choices}
        value={value.map(String)}
        onChange={(next) => onChange(next.slice(0, maxSegments).map(Number))}
        placeholder={usable.length ? 'Choose segments' : 'There are no segments yet'}
        emptyText="No segment matches."
        hint={full ? most : undefined}
        error={error}
      />
      {projectId && <NewSegment projectId={projectId} disabledReason={full ? most : undefined} onCreated={(id) => onChange([...value, id])} />}
    </>
  )
}

/** What is wrong with a strategy that the server would not say at the field. */
export function checkDraft(values: StrategyDraft): Partial<Record<keyof StrategyDraft, string>> {
  return { variants: weightProblem(values.variants) }
}

/** The types to choose from: flexibleRollout, the built-in ones, those of your own. No deprecated one, unless the strategy has it. */
export function typeChoices(types: readonly StrategyType[] | undefined, current: string): Choice[] {
  const rank = (type: StrategyType) => (type.name === 'flexibleRollout' ? 0 : type.editable ? 2 : 1)
  const choices = (types ?? [])
    .filter((type) => !type.deprecated || type.name === current)
    .sort((a, b) => rank(a) - rank(b))
    .map((type) => ({ value: type.name, label: type.displayName ?? (type.title ? `${type.title} (${type.name})` : type.name) }))
  return choices.some((choice) => choice.value === current) ? choices : [{ value: current, label: current }, ...choices]
}

/** The parameters after the type was changed: those of the type that the form started with come back. */
export function parametersFor(name: string, initial: StrategyDraft, stickiness = 'default'): Record<string, string> {
  if (name === initial.name) return initial.parameters
  if (name === 'flexibleRollout') return { rollout: '100', stickiness }
  return {}
}
