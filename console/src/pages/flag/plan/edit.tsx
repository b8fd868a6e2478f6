import { api } from '../../../api'
import { FormDialog, useChangeForm } from '../../../forms'
import { environmentPath, touched, type Flag, type FlagEnvironment } from '../data'
import { plansPath } from './data'
import { EndField } from './fields'
import { changedEnds, planProblems, type Plan } from './model'
import { endOf, type End } from './words'

interface EditProps {
  flag: Flag
  environment: FlagEnvironment
  plan: Plan
  onClose: () => void
}

/** Edits when the milestones of a plan start. */
export default function EditPlan({ flag, environment, plan, onClose }: EditProps) {
  const path = { projectId: flag.project, featureName: flag.name, environment: environment.name }
  const form = useChangeForm<{ ends: End[] }, void>({
    initial: { ends: plan.milestones.slice(0, -1).map((one) => endOf(one.transitionCondition?.intervalMinutes)) },
    check: ({ ends }) => ({
      ends: planProblems({ milestones: [...ends, endOf(0)].map((end) => ({ name: '', end, strategies: [] })), safeguards: [] } as never).milestones,
    }),
    change: async ({ ends }) => {
      for (const { source, target, minutes } of changedEnds(plan, ends)) {
        const at = { path: { ...path, milestoneId: source } }
        if (minutes)
          await api.put(`${environmentPath}/progressions/{milestoneId}`, {
            ...at,
            body: { targetMilestone: target, transitionCondition: { intervalMinutes: minutes } },
          })
        else await api.delete(`${environmentPath}/progressions/{milestoneId}`, at)
      }
    },
    invalidates: [plansPath, ...touched],
    success: 'Release plan saved',
    onSuccess: onClose,
  })
  const error = form.errorAt('/ends')
  return (
    <FormDialog form={form} title={`Times of ${plan.name}`} submit="Save plan" onClose={onClose}>
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
    </FormDialog>
  )
}
