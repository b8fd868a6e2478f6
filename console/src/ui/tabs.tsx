import { Link, useRouterState, type LinkProps } from '@tanstack/react-router'
import { useEffect, useRef, type ReactNode } from 'react'
import './tabs.css'

/** One tab: a link to a page of its own. */
export interface Tab {
  label: ReactNode
  link: LinkProps
}

/** Tabs as links, so that each has an address. label names what they divide: 'Project default'. */
export function Tabs({ label, tabs }: { label: string; tabs: Tab[] }) {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const list = useRef<HTMLElement>(null)
  // A small window does not show all tabs.
  useEffect(() => {
    const open = list.current?.querySelector<HTMLElement>('[aria-current]')
    if (list.current && open) list.current.scrollLeft = open.offsetLeft - list.current.offsetLeft - (list.current.clientWidth - open.offsetWidth) / 2
  }, [path])
  return (
    <nav ref={list} className="tabs" aria-label={label}>
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
