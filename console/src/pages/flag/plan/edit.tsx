import { api } from '../../../api'
import { FormDialog, useChangeForm } from '../../../forms'
import { environmentPath, placeIn, touched, type Flag, type FlagEnvironment } from '../data'
import { plansPath } from './data'
import { EndField, SafeguardFields } from './fields'
import { changedEnds, changedSafeguards, draftOf, planProblems, safeguardRequest, type Plan, type SafeguardDraft } from './model'
import { endOf, type End } from './words'

interface EditProps {
  flag: Flag
  environment: FlagEnvironment
  plan: Plan
  onClose: () => void
}

interface Values {
  ends: End[]
  safeguards: SafeguardDraft[]
}

/** Edits when the milestones of a plan start, and what stops it. */
export default function EditPlan({ flag, environment, plan, onClose }: EditProps) {
  const path = placeIn(flag, environment.name)
  const form = useChangeForm<Values, void>({
    initial: { ends: plan.milestones.slice(0, -1).map((one) => endOf(one.transitionCondition?.intervalMinutes)), safeguards: draftOf(plan).safeguards },
    check: ({ ends, safeguards }) => {
      const milestones = [...ends, endOf(0)].map((end) => ({ name: '', end, strategies: [] }))
      const problems = planProblems({ name: '', description: '', milestones, safeguards })
      return { ends: problems.milestones, safeguards: problems.safeguards }
    },
    change: async ({ ends, safeguards }) => {
      for (const { source, target, minutes } of changedEnds(plan, ends)) {
        const at = { path: { ...path, milestoneId: source } }
        if (minutes)
          await api.put(`${environmentPath}/progressions/{milestoneId}`, {
            ...at,
            body: { targetMilestone: target, transitionCondition: { intervalMinutes: minutes } },
          })
        else await api.delete(`${environmentPath}/progressions/{milestoneId}`, at)
      }
      const { added, removed } = changedSafeguards(plan, safeguards)
      const list = `${plansPath}/{planId}/safeguards` as const
      // The removed ones first: a plan has at most three.
      for (const safeguardId of removed) await api.delete(`${list}/{safeguardId}`, { path: { ...path, planId: plan.id, safeguardId } })
      for (const one of added) await api.put(list, { path: { ...path, planId: plan.id }, body: safeguardRequest(one) })
    },
    invalidates: touched,
    success: 'Release plan saved',
    onSuccess: onClose,
  })
  const error = form.errorAt('/ends')
  return (
    <FormDialog form={form} wide title={`Edit ${plan.name}`} submit="Save plan" onClose={onClose}>
      <ol className="plan-rows" aria-label="Times">
        {form.values.ends.map((end, index) => (
          <li key={index} className="plan-time">
            <span className="break">{plan.milestones[index + 1]!.name}</span>
            <EndField
              label={plan.milestones[index]!.name}
              value={end}
              onChange={(value) => form.set({ ends: form.values.ends.map((one, at) => (at === index ? value : one)) })}
            />
          </li>
        ))}
      </ol>
      {error && (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
      <SafeguardFields
        values={form.values.safeguards}
        onChange={(safeguards) => form.set({ safeguards })}
        errorAt={form.errorAt}
        project={flag.project}
        environment={environment.name}
      />
    </FormDialog>
  )
}
