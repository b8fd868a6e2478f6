import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, apiQuery, errorText } from '../../../api'
import { FormActions, useChangeForm } from '../../../forms'
import { Button, Dialog, DialogActions, Notice, RadioGroup, Select, TextField, percent, toast } from '../../../ui'
import { useAtOnce } from '../atonce'
import { placeIn, touched, useProject, useReasons, type Flag, type FlagEnvironment } from '../data'
import { changedSince, listPath, storedIn } from '../strategy/changes'
import { useSegmentNames } from '../strategy/list'
import { copyRequest, strategyDraft } from '../strategy/model'
import { plansPath } from './data'
import { PlanFields } from './fields'
import { audienceOf, draftOf, goingOn, planProblems, planRequest, readyTemplates, takesFrom, type Plan, type PlanDraft, type Template } from './model'

const templatesPath = '/api/admin/release-plan-templates'

interface SheetProps {
  flag: Flag
  environment: FlagEnvironment
  onClose: () => void
}

type Added = Pick<Plan, 'id' | 'run'> & { warnings: readonly string[]; replaced: FlagEnvironment['strategies'] }
type Values = PlanDraft & { from: string; existing: '' | 'replace' | 'keep' }

/** The sheet that adds a release plan: a template, which can be edited before. */
export default function PlanSheet({ flag, environment, onClose }: SheetProps) {
  const client = useQueryClient()
  const stickiness = useProject(flag.project)?.defaultStickiness
  const templates = useQuery(apiQuery(templatesPath)).data?.filter(({ archivedAt }) => !archivedAt) ?? []
  const names = useSegmentNames()
  const atOnce = useAtOnce(flag, environment)
  const reason = useReasons(flag)('CREATE_FEATURE_STRATEGY', environment.name)
  const [warnings, setWarnings] = useState<readonly string[]>()
  const present = environment.strategies.filter(({ disabled }) => !disabled).map(strategyDraft)
  const people = present.length > 0
  const path = placeIn(flag, environment.name)
  const request = ({ from, existing, ...draft }: Values) =>
    api.request.post(plansPath, {
      path,
      body: { ...planRequest(draft), ...(templates.some(({ id }) => id === from) && { templateId: from }), ...(existing && { existing }) } as never,
    })
  const form = useChangeForm<Values, Added>({
    initial: { ...readyTemplates[0]!.draft(stickiness), from: readyTemplates[0]!.name, existing: '' },
    check: (values) => ({
      ...planProblems(values),
      name: values.name.trim() ? '' : 'Enter a name.',
      existing: people && !values.existing ? 'Choose what happens to them.' : '',
    }),
    change: async (values) => {
      const replaced = values.existing === 'replace' ? (await storedIn(flag, environment.name)).strategies : []
      return { ...(await api.send(request(values))), replaced }
    },
    requests: (values) => [request(values)],
    onDrafted: onClose,
    invalidates: touched,
    success: `${flag.name} rolls out gradually in ${environment.name}`,
    // The strategies return before the plan goes, so that the flag stays on.
    undo: async (_, { id, run, replaced }) => {
      const [now] = await api.get(plansPath, { path })
      if (now?.id !== id || now.run !== run) throw changedSince('release plan')
      for (const one of replaced) await api.post(listPath, { path, body: { ...copyRequest(one), sortOrder: one.sortOrder } })
      await api.delete(`${plansPath}/{planId}`, { path: { ...path, planId: id } })
    },
    onSuccess: (added) => (added.warnings.length > 0 ? setWarnings(added.warnings) : onClose()),
  })
  const { values } = form
  const choose = async (from: string) => {
    const ready = readyTemplates.find(({ name }) => name === from)
    if (ready) return form.set({ ...ready.draft(stickiness), from })
    try {
      const template = await client.fetchQuery(apiQuery(`${templatesPath}/{templateId}`, { path: { templateId: from } }))
      form.set({ ...draftOf(template as Template), from })
    } catch (error) {
      toast.error(errorText(error))
    }
  }
  if (warnings)
    return (
      <Dialog open onClose={onClose} title="The plan was added">
        {warnings.map((one) => (
          <Notice key={one} kind="warn">
            {one}
          </Notice>
        ))}
        <DialogActions>
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        </DialogActions>
      </Dialog>
    )
  const first = values.milestones[0]?.strategies ?? []
  const lost = environment.enabled && values.existing === 'replace' && takesFrom(flag.name, present, first)
  const on = goingOn(present, values.milestones)
  const after = audienceOf(first, names)
  const sentence = lost
    ? `${audienceOf(present, names)} → ${after}: users lose it`
    : environment.enabled
      ? `Starts with: ${after}`
      : `When the flag is switched on: ${after}`
  const instead = lost && on && (
    <p>
      <button type="button" className="link-button" onClick={() => form.set({ milestones: on.milestones })}>
        Start at {percent(on.share)}
      </button>{' '}
      instead.
    </p>
  )
  return (
    <Dialog open sheet onClose={onClose} title={`Roll out gradually in ${environment.name}`}>
      <form {...form.props}>
        <div className="columns">
          <Select
            label="Template"
            choices={[
              ...readyTemplates.map(({ name, note }) => ({ value: name, label: name, note })),
              ...templates.map(({ id, name, milestones }) => ({ value: id, label: name, note: milestones.map((one) => one.name).join(', ') })),
            ]}
            value={values.from}
            onChange={(from) => void choose(from)}
          />
          <TextField label="Name of the plan" maxLength={255} {...form.field('name')} />
        </div>
        <PlanFields values={values} onChange={form.set} errorAt={form.errorAt} flag={flag} environment={environment.name} stickiness={stickiness} />
        {people && (
          <section className="form-group">
            <RadioGroup
              label="Strategies that are there now"
              choices={[
                { value: 'replace' as const, label: 'Replace them', hint: 'Only the milestones decide.' },
                {
                  value: 'keep' as const,
                  label: 'Keep them',
                  hint: 'Users that one of them selects have the flag already: beside a strategy for everyone, a plan changes nothing.',
                },
              ]}
              value={values.existing as 'replace'}
              onChange={(existing) => form.set({ existing })}
              error={form.errorAt('/existing')}
            />
          </section>
        )}
        <FormActions
          form={form}
          submit={atOnce.label(environment.enabled ? 'Start rollout' : 'Add plan')}
          onCancel={onClose}
          disabledReason={reason}
          sentence={
            atOnce.line({ after: sentence, widens: values.existing === 'keep', children: instead }) || (
              <div>
                <p className="strong at-once-text">{sentence}</p>
                {instead}
              </div>
            )
          }
        />
      </form>
    </Dialog>
  )
}
