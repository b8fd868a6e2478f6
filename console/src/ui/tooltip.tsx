import { Tooltip as Base } from '@base-ui/react/tooltip'
import type { ReactElement, ReactNode } from 'react'

/** Shows a text on hover and focus of its child. The child must be focusable and must be understood without it. */
export function Tooltip({ text, children }: { text: ReactNode; children: ReactElement<Record<string, unknown>> }) {
  if (!text) return children
  return (
    <Base.Root>
      <Base.Trigger render={children} delay={250} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} className="layer">
          <Base.Popup className="tooltip">{text}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
