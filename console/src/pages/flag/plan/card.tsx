import { Link } from '@tanstack/react-router'
import { Suspense, lazy, useState } from 'react'
import { ActionMenu, Badge, Button, DateTime, Icons, Stepper, useConfirm, type MenuEntry } from '../../../ui'
import { GoesOff, useAskedChange } from '../atonce'
import { useReasons, type Flag, type FlagEnvironment } from '../data'
import { useSegmentNames } from '../strategy/list'
import { useAnyway } from './anyway'
import { useFiring, usePlanChanges } from './data'
import { useFinish, usePartsReason } from './finish'
import { activeIndex, asStrategy, audienceOf, isOfPlan, planStatus, type Plan } from './model'
import { actionText, durationText, signalName } from './words'
import './plan.css'

const EditPlan = lazy(() => import('./edit'))

interface CardProps {
  flag: Flag
  environment: FlagEnvironment
  plan: Plan
  onSwitch: (on: boolean) => void
}

/** The release plan of a flag in an environment: its milestones, its state, and what goes on. */
export function PlanCard({ flag, environment, plan, onSwitch }: CardProps) {
  const [editing, edit] = useState(false)
  const names = useSegmentNames()
  const reasonFor = useReasons(flag)
  const [ask, question] = useAskedChange(flag)
  const [attempt, anyway] = useAnyway()
  const { start, resume, pause, remove } = usePlanChanges(flag, environment, plan)
  const reason = reasonFor('UPDATE_FEATURE_STRATEGY', environment.name)
  const switchReason = reasonFor('UPDATE_FEATURE_ENVIRONMENT', environment.name)
  const removeReason = reasonFor('DELETE_FEATURE_STRATEGY', environment.name)
  const parts = usePartsReason(flag, environment)
  const { finish, question: finishing, ...finished } = useFinish(flag, environment, plan)
  const firing = useFiring(flag, environment, plan)
  const index = activeIndex(plan)
  const status = planStatus(plan)
  const paused = ['paused', 'stopped'].includes(plan.state)
  const audience = (at: number) => audienceOf((plan.milestones[at]?.strategies ?? []).map(asStrategy), names)
  const startAt = (at: number, restart?: boolean) => {
    const { id: milestone, name } = plan.milestones[at]!
    ask(environment, {
      what: `Start milestone ${name}`,
      action: 'Start',
      details: (
        <p>
          It is for: <span className="strong break">{audience(at)}</span>
        </p>
      ),
      act: () => void attempt(`Start ${name} anyway`, (force) => start.mutateAsync({ milestone, name, restart, force })),
    })
  }
  const own = environment.strategies.filter((one) => !one.disabled && !isOfPlan(plan, one.id))
  const [askRemove, removing] = useConfirm((asked: Plan) => ({
    title: `Delete the release plan ${asked.name} in ${environment.name}?`,
    description:
      environment.enabled && own.length === 0 ? <GoesOff flag={flag} /> : `Its strategies are removed. The flag stays ${environment.enabled ? 'on' : 'off'}.`,
    action: 'Delete plan',
    onConfirm: () => remove.mutateAsync(),
  }))
  const [last, started] = [index === plan.milestones.length - 1, index >= 0]
  const entries: MenuEntry[] = [
    ...plan.milestones.flatMap((one, at) =>
      at === index + 1 && environment.enabled && !paused
        ? []
        : {
            label: at <= index ? `Start ${one.name} again` : at === index + 1 ? `Start ${one.name}` : `Skip to ${one.name}`,
            icon: <Icons.Play />,
            disabledReason: reason,
            onSelect: () => startAt(at, at <= index),
          },
    ),
    'separator',
    { label: 'Edit times and safeguards', icon: <Icons.Edit />, disabledReason: reason ?? parts, onSelect: () => edit(true) },
    ...(started && !(last && environment.enabled && !paused)
      ? [{ label: `Finish at ${plan.milestones[index]!.name}`, icon: <Icons.Check />, disabledReason: finished.reason, onSelect: finish }]
      : []),
    {
      label: 'Delete plan',
      icon: <Icons.Trash />,
      danger: true,
      disabledReason: removeReason,
      onSelect: () => (parts ? void attempt('', () => remove.mutateAsync()) : askRemove(plan)),
    },
  ]
  const steps = plan.milestones.map((one, at) => {
    const minutes = one.transitionCondition?.intervalMinutes
    const who = audience(at)
    return {
      label: one.name,
      note: (
        <span className="plan-step">
          {who.startsWith(`${one.name.replace(/\s%$/, '%')} of`) ? '' : <span className="break">{who}</span>}
          {at < plan.milestones.length - 1 && <span className="nowrap">{minutes ? durationText(minutes) : 'by hand'}</span>}
        </span>
      ),
    }
  })
  return (
    <section className="plan" aria-label={`Release plan in ${environment.name}`}>
      <div className="row-apart">
        <p className="row grow">
          <span className="strong break">{plan.name}</span>
          <Badge kind={status.kind}>{status.label}</Badge>
          <span className="soft break">
            {status.text} {status.at && <DateTime value={status.at} />}
          </span>
        </p>
        <div className="row">
          {!environment.enabled ? (
            <Button size="small" variant="primary" disabledReason={switchReason} onClick={() => onSwitch(true)}>
              Switch on
            </Button>
          ) : (
            <>
              {paused ? (
                <Button
                  size="small"
                  variant="primary"
                  disabledReason={reason}
                  pending={resume.isPending}
                  onClick={() => void attempt('Resume anyway', (force) => resume.mutateAsync(force))}
                >
                  Resume
                </Button>
              ) : last ? (
                <Button size="small" variant="primary" disabledReason={finished.reason} pending={finished.pending} onClick={finish}>
                  Finish
                </Button>
              ) : (
                <>
                  <Button
                    size="small"
                    variant={plan.nextAt ? 'secondary' : 'primary'}
                    icon={<Icons.Play />}
                    disabledReason={reason}
                    onClick={() => startAt(index + 1)}
                  >
                    Next
                  </Button>
                  <Button size="small" disabledReason={reason} pending={pause.isPending} onClick={() => pause.mutate()}>
                    Pause
                  </Button>
                </>
              )}
              <Button size="small" disabledReason={switchReason} onClick={() => onSwitch(false)}>
                Off
              </Button>
            </>
          )}
          <ActionMenu label={`More actions for the release plan in ${environment.name}`} entries={entries} />
        </div>
      </div>
      <Stepper label="Milestones" steps={steps} current={index} failed={status.kind === 'danger'} />
      {plan.safeguards && plan.safeguards.length > 0 && (
        <ul className="soft small" aria-label="Safeguards">
          {plan.safeguards.map((one) => (
            <li key={one.id} className="break">
              {one.signal.name ? (
                <Link to="/projects/$projectId/signals" params={{ projectId: flag.project }} search={{ q: one.signal.name } as never}>
                  {one.signal.name}
                </Link>
              ) : (
                signalName(one.signal)
              )}{' '}
              {actionText(one.action)} {firing.includes(one) && <Badge kind="danger">Firing</Badge>}
            </li>
          ))}
        </ul>
      )}
      {question}
      {finishing}
      {removing}
      {anyway}
      {editing && (
        <Suspense fallback={null}>
          <EditPlan flag={flag} environment={environment} plan={plan} onClose={() => edit(false)} />
        </Suspense>
      )}
    </section>
  )
}
