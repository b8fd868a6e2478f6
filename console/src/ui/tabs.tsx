import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import './tabs.css'

/** One tab: a link to a page of its own. */
export interface Tab {
  label: ReactNode
  link: LinkProps
}

/** Tabs as links, so that each has an address. label names what they divide: 'Project default'. */
export function Tabs({ label, tabs }: { label: string; tabs: Tab[] }) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map((tab) => (
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
    </nav>
  )
}
