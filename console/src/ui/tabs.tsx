import { Link, useRouter, useRouterState, type LinkProps } from '@tanstack/react-router'
import { Icons } from './icons'
import { Menu } from './menu'
import './tabs.css'
import { useNarrow } from './window'

/** One tab: a link to a page of its own. */
export interface Tab {
  label: string
  link: LinkProps
  /** Is in the menu More. */
  rare?: boolean
}

// How many tabs a phone shows beside the menu More, if there are more than fit.
const onPhones = 3
const fitPhones = 5

/** Tabs as links, so that each has an address. label names what they divide: 'Project default'. Rare ones are in a menu, on phones more. */
export function Tabs({ label, tabs }: { label: string; tabs: Tab[] }) {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const { buildLocation } = useRouter()
  const narrow = useNarrow() && tabs.length > fitPhones
  const shown = narrow ? tabs.slice(0, onPhones) : tabs.filter(({ rare }) => !rare)
  const folded = tabs.filter((tab) => !shown.includes(tab))
  const open = folded.find(({ link }) => buildLocation(link as never).pathname === path)
  return (
    <nav className="tabs" aria-label={label}>
      {shown.map((tab) => (
        <Link
          key={String(tab.link.to)}
          {...tab.link}
          className="tab"
          activeOptions={{ exact: true, includeSearch: false }}
          activeProps={{ 'aria-current': 'page' }}
        >
          {tab.label}
        </Link>
      ))}
      {folded.length > 0 && (
        <Menu
          trigger={
            <button type="button" className="tab" aria-current={open && 'page'}>
              {open?.label ?? 'More'} <Icons.Chevron />
            </button>
          }
          entries={folded.map((tab) => ({ label: tab.label, link: tab.link, checked: tab === open }))}
        />
      )}
    </nav>
  )
}
