import { useId } from 'react'
import './switch.css'
import { Tooltip } from './tooltip'

interface SwitchProps {
  /** The name of what is switched, for example 'checkout in production'. */
  label: string
  checked: boolean
  onChange: (checked: boolean) => void
  /** Shows the label beside the switch. */
  showLabel?: boolean
  /** Why it cannot be switched: it stays focusable and shows the reason. */
  disabledReason?: string
}

/** A switch that acts at once. Use it with an optimistic useChange, so that it rolls back with the server's reason. */
export function Switch({ label, checked, onChange, showLabel, disabledReason }: SwitchProps) {
  const id = useId()
  const control = (
    <button
      type="button"
      role="switch"
      className="switch"
      aria-checked={checked}
      aria-label={showLabel ? undefined : label}
      aria-labelledby={showLabel ? `${id}-label` : undefined}
      aria-disabled={disabledReason ? true : undefined}
      aria-describedby={disabledReason ? `${id}-reason` : undefined}
      onClick={() => !disabledReason && onChange(!checked)}
    >
      <span className="switch-track">
        <span className="switch-thumb" />
      </span>
    </button>
  )
  return (
    <span className="switch-box">
      <Tooltip text={disabledReason}>{control}</Tooltip>
      {showLabel && <span id={`${id}-label`}>{label}</span>}
      {disabledReason && (
        <span id={`${id}-reason`} className="visually-hidden">
          {disabledReason}
        </span>
      )}
    </span>
  )
}
