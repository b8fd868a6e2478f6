import type { ReactNode } from 'react'
import { api, useChange } from '../../../api'
import { useProtection } from '../../../requests/drafts'
import { useConfirm } from '../../../ui'
import { placeIn, touched, useReasons, type Flag, type FlagEnvironment } from '../data'
import { plansPath } from './data'
import { activeIndex, type Plan } from './model'

/** Why parts of a plan cannot be changed in an environment: change requests add and delete whole plans. */
export function usePartsReason(flag: Flag, environment: FlagEnvironment) {
  return useProtection(flag.project).drafts(environment.name) ? 'With change requests, delete the plan and add another one.' : undefined
}

/** Ends a plan and keeps its strategies. Before the last milestone it asks. Render the dialog. */
export function useFinish(
  flag: Flag,
  environment: FlagEnvironment,
  plan: Plan,
): { finish: () => void; reason?: string; pending: boolean; question: ReactNode } {
  const parts = usePartsReason(flag, environment)
  const reason = useReasons(flag)('DELETE_FEATURE_STRATEGY', environment.name) ?? parts
  const detach = useChange({
    change: () => api.post(`${plansPath}/{planId}/detach`, { path: { ...placeIn(flag, environment.name), planId: plan.id } }),
    invalidates: touched,
    success: `${flag.name} in ${environment.name}: the release plan is finished, and its strategies stay`,
  })
  const active = activeIndex(plan)
  const [ask, question] = useConfirm((at: string) => ({
    title: `Finish the plan at ${at}?`,
    description: 'No other milestone starts. The strategies stay, and can be edited.',
    action: 'Finish plan',
    danger: false,
    onConfirm: () => detach.mutateAsync(),
  }))
  const finish = () => (active === plan.milestones.length - 1 ? detach.mutate() : ask(plan.milestones[active]?.name ?? 'the start'))
  return { finish, reason, pending: detach.isPending, question }
}

/** The note of a strategy that a plan has put there, with what makes it an ordinary one. */
export function OfPlan({ flag, environment, plan }: { flag: Flag; environment: FlagEnvironment; plan: Plan }) {
  const { finish, reason, question } = useFinish(flag, environment, plan)
  return (
    <>
      Set by the release plan.{' '}
      {reason ? (
        'It cannot be edited.'
      ) : (
        <>
          <button type="button" className="link-button" onClick={finish}>
            Finish the plan
          </button>{' '}
          to edit it.
        </>
      )}
      {question}
    </>
  )
}
