import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, apiQuery, useChange, type Schema } from '../../api'
import { FormActions, useForm } from '../../forms'
import { Button, Checkbox, DateTime, Facts, Icons, Section, Select, TextArea } from '../../ui'
import { ArchiveFlag, archiveObstacle, useStale, useUncomplete } from './actions'
import { ProjectName } from '../../ui/projectname'
import { TypeField } from '../flags/typefield'
import { flagPath, touched, useLoadedFlag, useReasons, type Flag } from './data'
import { CloneDialog, CompleteDialog, MoveDialog } from './dialogs'
import { lifecycleText } from './lifecycle'
import { valueOf, valueText, valueTypes, type ValueType } from './variants/model'
import { ValueField } from './variants/value'

/** Settings of the flag: what it is for, its lifecycle, and moving or archiving it. */
export default function SettingsTab() {
  const flag = useLoadedFlag()
  return (
    <>
      <MetadataForm key={flag.name} flag={flag} />
      <LifecycleSection flag={flag} />
      <PlaceSection flag={flag} />
    </>
  )
}

interface Metadata extends Pick<Flag, 'type' | 'impressionData'> {
  description: string
  valueType: ValueType | 'none'
  defaultValue: string
  valueSchema: string
}

const metadataOf = (flag: Flag): Metadata => ({
  description: flag.description ?? '',
  type: flag.type,
  impressionData: flag.impressionData,
  valueType: flag.valueType ?? 'none',
  defaultValue: valueText(flag.defaultValue),
  valueSchema: valueText(flag.valueSchema),
})

function bodyOf({ valueType, defaultValue, valueSchema, ...others }: Metadata): Schema<'UpdateFeatureRequest'> {
  if (valueType === 'none') return { ...others, valueType: null }
  const schema = valueType === 'object' && valueSchema.trim() !== '' ? valueOf('object', valueSchema) : null
  return { ...others, valueType, defaultValue: valueOf(valueType, defaultValue), valueSchema: schema }
}

const typeChoices = [{ value: 'none' as const, label: 'Any', note: 'Payloads are not checked.' }, ...valueTypes]

function MetadataForm({ flag }: { flag: Flag }) {
  const reason = useReasons(flag)('UPDATE_FEATURE')
  const requestOf = (values: Metadata) => api.request.put(flagPath, { path: { projectId: flag.project, featureName: flag.name }, body: bodyOf(values) })
  const stored = metadataOf(flag)
  const save = useChange({
    change: ({ values }: { values: Metadata; before: Metadata }) => api.send(requestOf(values)),
    invalidates: touched,
    success: `${flag.name}: settings saved`,
    undo: async ({ values, before }) => {
      const now = await api.get(flagPath, { path: { projectId: flag.project, featureName: flag.name } })
      if (JSON.stringify(bodyOf(metadataOf(now))) !== JSON.stringify(bodyOf(values)))
        throw new Error(`Meanwhile the settings of ${flag.name} have changed. Nothing was undone.`)
      await api.send(requestOf(before))
      form.reset(before)
    },
    showsErrors: true,
  })
  const form = useForm({
    initial: stored,
    submit: (values) => save.mutateAsync({ values, before: stored }),
  })
  return (
    <Section title="Description and type">
      <form {...form.props}>
        <TextArea
          label="Description"
          maxLength={2000}
          disabledReason={reason}
          {...form.field('description')}
          hint="What the flag is for, so that others know when it can be removed."
        />
        <TypeField disabledReason={reason} {...form.field('type')} />
        <Select
          label="Values"
          choices={typeChoices}
          disabledReason={reason}
          {...form.field('valueType')}
          onChange={(valueType) => form.set({ valueType, defaultValue: valueType === 'boolean' ? 'false' : '' })}
          hint="Payloads of all variants must have this type. OpenFeature generates code from it."
        />
        {form.values.valueType !== 'none' && (
          <ValueField
            label="Default value"
            type={form.values.valueType}
            disabledReason={reason}
            {...form.field('defaultValue')}
            hint="While the flag is off."
          />
        )}
        {form.values.valueType === 'object' && (
          <ValueField
            label="JSON Schema"
            type="object"
            disabledReason={reason}
            {...form.field('valueSchema')}
            hint="Optional: payloads and the default value must match it."
          />
        )}
        <Checkbox
          label="Impression data"
          hint="SDKs emit an event for each evaluation of the flag, for example for an analytics tool."
          disabledReason={reason}
          checked={form.values.impressionData}
          onChange={(impressionData) => form.set({ impressionData })}
        />
        <FormActions form={form} submit="Save settings" disabledReason={reason ?? (form.dirty ? undefined : 'Nothing has changed.')} />
      </form>
    </Section>
  )
}

function LifecycleSection({ flag }: { flag: Flag }) {
  const [completing, setCompleting] = useState(false)
  const phases = useQuery(apiQuery(`${flagPath}/lifecycle`, { path: { projectId: flag.project, featureName: flag.name } })).data ?? []
  const reason = useReasons(flag)('UPDATE_FEATURE')
  const stale = useStale(flag)
  const uncomplete = useUncomplete(flag)
  const completed = flag.lifecycle.stage === 'completed'
  return (
    <Section
      title="Lifecycle"
      description={lifecycleText(flag.lifecycle, flag.environments).hint}
      actions={
        <>
          <Button disabledReason={reason} pending={stale.isPending} onClick={() => stale.mutate(!flag.stale)}>
            {flag.stale ? 'Mark as not stale' : 'Mark as stale'}
          </Button>
          {completed ? (
            <Button disabledReason={reason} pending={uncomplete.isPending} onClick={() => uncomplete.mutate()}>
              Mark as not completed
            </Button>
          ) : (
            <Button disabledReason={reason} onClick={() => setCompleting(true)}>
              Mark as completed…
            </Button>
          )}
        </>
      }
    >
      <ol className="lifecycle">
        {phases.map((phase) => (
          <li key={`${phase.stage}${phase.enteredStageAt}`} className="row">
            <span className="strong">{lifecycleText(phase).label}</span>
            <span className="soft">
              since <DateTime value={phase.enteredStageAt} />
            </span>
            {phase.status && (
              <span className="soft">
                {outcomes[phase.status] ?? phase.status}
                {phase.statusValue ? ` ${phase.statusValue}` : ''}
              </span>
            )}
          </li>
        ))}
      </ol>
      <p className="soft">A stale flag has served its purpose and should be removed from the code. Neither mark affects applications.</p>
      {completing && <CompleteDialog flag={flag} onClose={() => setCompleting(false)} />}
    </Section>
  )
}

const outcomes: Record<string, string> = {
  kept: 'the feature was kept',
  'kept-with-variant': 'the feature was kept with the variant',
  discarded: 'the feature was discarded',
}

function PlaceSection({ flag }: { flag: Flag }) {
  const [open, setOpen] = useState<'clone' | 'move' | 'archive'>()
  const reason = useReasons(flag)
  const close = () => setOpen(undefined)
  return (
    <Section title="Clone, move, archive">
      <Facts
        items={[
          ['Created', <DateTime key="created" value={flag.createdAt} />],
          ['Project', <ProjectName key="project" id={flag.project} />],
        ]}
      />
      <p className="soft">An archived flag is off everywhere. It can be revived, and its name stays reserved.</p>
      <div className="row">
        <Button icon={<Icons.Copy />} disabledReason={reason('CREATE_FEATURE')} onClick={() => setOpen('clone')}>
          Clone…
        </Button>
        <Button icon={<Icons.Folder />} disabledReason={reason('MOVE_FEATURE_TOGGLE')} onClick={() => setOpen('move')}>
          Move…
        </Button>
        <Button icon={<Icons.Archive />} variant="danger" disabledReason={reason('DELETE_FEATURE') ?? archiveObstacle(flag)} onClick={() => setOpen('archive')}>
          Archive flag
        </Button>
      </div>
      {open === 'archive' && <ArchiveFlag flag={flag} onClose={close} />}
      {open === 'clone' && <CloneDialog flag={flag} onClose={close} />}
      {open === 'move' && <MoveDialog flag={flag} onClose={close} />}
    </Section>
  )
}
