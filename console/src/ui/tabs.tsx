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
  const bar = useRef<HTMLElement>(null)
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })
  // On a phone the open tab may be out of view.
  useEffect(() => {
    const open = bar.current?.querySelector<HTMLElement>('[aria-current]')
    if (open) bar.current!.scrollTo({ left: open.offsetLeft - (bar.current!.clientWidth - open.offsetWidth) / 2 })
  }, [path])
  return (
    <nav ref={bar} className="tabs" aria-label={label}>
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
