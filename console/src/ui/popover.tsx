import { Popover as Base } from '@base-ui/react/popover'
import type { ReactElement, ReactNode } from 'react'
import { Icons } from './icons'
import './menu.css'

interface PopoverProps {
  /** The button that opens it. */
  trigger: ReactElement<Record<string, unknown>>
  /** Names what it shows, for screen readers. */
  label: string
  children: ReactNode
  hover?: boolean
  open?: boolean
  onOpenChange?: (open: boolean) => void
}

/** A box beside its button, which a click opens and another click, Escape or a click elsewhere closes. Works with fingers. */
export function Popover({ trigger, label, children, hover, ...state }: PopoverProps) {
  return (
    <Base.Root {...state}>
      <Base.Trigger render={trigger} openOnHover={hover} delay={250} />
      <Base.Portal>
        <Base.Positioner className="layer" sideOffset={6} align="start">
          <Base.Popup className="popover" aria-label={label}>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

/** An ⓘ that explains the word before it: with the pointer, the keyboard and a finger. A click keeps it open. */
export function Info({ label = 'What this means', children }: { label?: string; children: ReactNode }) {
  return (
    <Popover
      hover
      label={label}
      trigger={
        <button type="button" className="info" aria-label={label}>
          <Icons.Info />
        </button>
      }
    >
      {children}
    </Popover>
  )
}

/** The values that are not shown of many: 'and 10 more', which opens them. label names all of them: 'All values of userId'. */
export function More({ values, label }: { values: readonly string[]; label: string }) {
  if (values.length === 0) return null
  return (
    <Popover
      label={label}
      trigger={
        <button type="button" className="more">
          and {values.length} more
        </button>
      }
    >
      <ul className="more-values" tabIndex={0} aria-label={label}>
        {values.map((value, index) => (
          <li key={index} className="break">
            {value}
          </li>
        ))}
      </ul>
    </Popover>
  )
}
