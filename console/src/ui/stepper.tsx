import type { ReactNode } from 'react'
import { Icons } from './icons'
import './stepper.css'

/** One step: its name, and what is known of it, such as when it happened and who did it. */
export interface Step {
  label: string
  note?: ReactNode
}

/** The steps of something that goes through them in order: those before current are done. failed ends it there. */
export function Stepper({ label, steps, current, failed }: { label: string; steps: readonly Step[]; current: number; failed?: boolean }) {
  return (
    <ol className="stepper" aria-label={label}>
      {steps.map((step, index) => {
        const done = index < current
        const now = index === current
        const state = done ? 'done' : now ? (failed ? 'failed' : 'now') : 'next'
        return (
          <li key={step.label} className={`step step-${state}`} aria-current={now ? 'step' : undefined}>
            <span className="step-mark" aria-hidden="true">
              {done ? <Icons.Check /> : state === 'failed' ? <Icons.Close /> : index + 1}
            </span>
            <span className="step-text">
              <span className="step-label">
                {step.label}
                <span className="visually-hidden">{done ? ' (done)' : ''}</span>
              </span>
              {step.note && <span className="step-note">{step.note}</span>}
            </span>
          </li>
        )
      })}
    </ol>
  )
}
