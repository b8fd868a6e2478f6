import type { ReactNode } from 'react'

/** A part of the rail of a flag: what is known of it, with a small button to change that. */
export function Part({ title, action, children }: { title: string; action?: ReactNode; children?: ReactNode }) {
  return (
    <section>
      <div className="rail-head">
        <h2>{title}</h2>
        {action}
      </div>
      {children}
    </section>
  )
}
