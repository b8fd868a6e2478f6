import { Menu as Base } from '@base-ui/react/menu'
import { useNavigate, type LinkProps } from '@tanstack/react-router'
import type { ReactElement, ReactNode } from 'react'
import { IconButton } from './button'
import { Icons } from './icons'
import './menu.css'

/** One entry of a menu, or a line between entries. */
export type MenuEntry =
  | 'separator'
  | {
      label: ReactNode
      icon?: ReactNode
      onSelect?: () => void
      /** Goes to a page instead of onSelect. */
      link?: LinkProps
      danger?: boolean
      /** Shows a check mark: for a choice of several. */
      checked?: boolean
      /** Why it cannot be chosen; shown below the label. */
      disabledReason?: string
    }

interface MenuProps {
  /** The button that opens the menu: <Button>…</Button>. */
  trigger: ReactElement<Record<string, unknown>>
  entries: MenuEntry[]
  /** Text above the entries. */
  heading?: ReactNode
  align?: 'start' | 'end'
}

/** A menu of actions. */
export function Menu({ trigger, entries, heading, align = 'end' }: MenuProps) {
  const navigate = useNavigate()
  return (
    <Base.Root modal={false}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className="layer" sideOffset={4} align={align}>
          <Base.Popup className="menu">
            {heading && <div className="menu-heading">{heading}</div>}
            {entries.map((entry, index) =>
              entry === 'separator' ? (
                <Base.Separator key={index} className="menu-separator" />
              ) : (
                <Base.Item
                  key={index}
                  className={entry.danger ? 'menu-item menu-item-danger' : 'menu-item'}
                  disabled={Boolean(entry.disabledReason)}
                  onClick={() => (entry.link ? void navigate(entry.link as never) : entry.onSelect?.())}
                >
                  {entry.icon}
                  <span className="grow">
                    {entry.label}
                    {entry.disabledReason && <span className="menu-reason">{entry.disabledReason}</span>}
                  </span>
                  {entry.checked && (
                    <>
                      <Icons.Check />
                      <span className="visually-hidden">(chosen)</span>
                    </>
                  )}
                </Base.Item>
              ),
            )}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

/** The menu of a row or a card, behind three dots. label names whose actions they are: 'Actions for checkout'. */
export function ActionMenu({ label, entries }: { label: string; entries: MenuEntry[] }) {
  return <Menu trigger={<IconButton label={label} icon={<Icons.More />} />} entries={entries} />
}
