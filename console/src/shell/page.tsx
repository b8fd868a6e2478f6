import { Link, useRouterState, type LinkProps } from '@tanstack/react-router'
import { useEffect, type ReactNode } from 'react'
import { Tabs, type Tab } from '../ui/tabs'
import './page.css'

/** One step of the way to a page. */
export interface Crumb {
  label: string
  link: LinkProps
}

interface PageProps {
  /** The heading of the page. */
  title: string
  /** Beside the heading: badges. */
  aside?: ReactNode
  /** One sentence below the heading. */
  description?: ReactNode
  /** The pages above this one, the topmost first. */
  crumbs?: Crumb[]
  /** Buttons at the right of the heading. */
  actions?: ReactNode
  tabs?: Tab[]
  /** What is known of the subject, beside the content from 1,280 px on, below it otherwise. */
  rail?: ReactNode
  children: ReactNode
}

/** The frame of every page: breadcrumbs, heading, actions, tabs; it also sets the title of the document. */
export function Page({ title, aside, description, crumbs, actions, tabs, rail, children }: PageProps) {
  useDocumentTitle(title)
  return (
    <div className="page">
      <header className="page-head">
        {crumbs && crumbs.length > 0 && (
          <nav aria-label="Breadcrumbs">
            <ol className="crumbs">
              {crumbs.map((crumb) => (
                <li key={crumb.label}>
                  <Link {...crumb.link}>{crumb.label}</Link>
                </li>
              ))}
            </ol>
          </nav>
        )}
        <div className="row-apart">
          <div className="row page-title">
            <h1 tabIndex={-1}>{title}</h1>
            {aside}
          </div>
          {actions && <div className="row">{actions}</div>}
        </div>
        {description && <p className="soft page-description">{description}</p>}
        {tabs && <Tabs label={title} tabs={tabs} />}
      </header>
      {rail ? (
        <div key="rail" className="page-rail">
          <div className="page-body">{children}</div>
          <aside className="rail" aria-label={`About ${title}`}>
            {rail}
          </aside>
        </div>
      ) : (
        <div key={tabs ? 'tab' : 'body'} className="page-body">
          {children}
        </div>
      )}
    </div>
  )
}

// The title of the document: that of the deepest route (a tab), that of the page, Guidon.
function useDocumentTitle(title: string) {
  const deepest = useRouterState({ select: (state) => state.matches.at(-1)?.staticData.title })
  useEffect(() => {
    document.title = [...new Set([deepest, title, 'Guidon'].filter(Boolean))].join(' · ')
  }, [deepest, title])
}
