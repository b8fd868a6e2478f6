import { Link, type LinkProps } from '@tanstack/react-router'
import { useId, type ComponentProps, type MouseEvent, type ReactNode } from 'react'
import './button.css'
import { Tooltip } from './tooltip'

type Variant = 'secondary' | 'primary' | 'danger' | 'quiet'

interface Look {
  /** secondary is the default. At most one primary button per view. */
  variant?: Variant
  size?: 'medium' | 'small'
  icon?: ReactNode
}

export interface ButtonProps extends Omit<ComponentProps<'button'>, 'disabled'>, Look {
  /** Why the button cannot be used: it stays focusable and shows the reason. */
  disabledReason?: string
  /** While the change is running: a spinner, and clicks are ignored. */
  pending?: boolean
}

function classes(variant: Variant, size: string, more = '') {
  return `button button-${variant} button-${size} ${more}`.trim()
}

/** A button. type is 'button' unless told otherwise. */
export function Button({ variant = 'secondary', size = 'medium', icon, disabledReason, pending, children, className, onClick, ...rest }: ButtonProps) {
  const reasonId = useId()
  const off = Boolean(disabledReason) || pending
  const button = (
    <button
      type="button"
      {...rest}
      className={classes(variant, size, className)}
      aria-disabled={off || undefined}
      aria-busy={pending || undefined}
      aria-describedby={disabledReason ? reasonId : rest['aria-describedby']}
      onClick={(event: MouseEvent<HTMLButtonElement>) => (off ? event.preventDefault() : onClick?.(event))}
    >
      {pending ? <span className="spinner" /> : icon}
      {children}
    </button>
  )
  if (!disabledReason) return button
  return (
    <>
      <Tooltip text={disabledReason}>{button}</Tooltip>
      <span id={reasonId} className="visually-hidden">
        {disabledReason}
      </span>
    </>
  )
}

/** A button with an icon only. label is its name and its tooltip. */
export function IconButton({ label, icon, variant = 'quiet', className = '', ...rest }: Omit<ButtonProps, 'children'> & { label: string; icon: ReactNode }) {
  const button = <Button {...rest} variant={variant} icon={icon} aria-label={label} className={`button-icon ${className}`} />
  return rest.disabledReason ? button : <Tooltip text={label}>{button}</Tooltip>
}

/** A link that looks like a button: <LinkButton to="/projects/$projectId" params={{ projectId }}>. */
export function LinkButton({ variant = 'secondary', size = 'medium', icon, children, ...link }: LinkProps & Look & { children: ReactNode }) {
  return (
    <Link {...link} className={classes(variant, size)}>
      {icon}
      {children}
    </Link>
  )
}
