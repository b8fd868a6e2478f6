import { Link, useRouterState, type LinkProps } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState, type ComponentType } from 'react'
import { apiQuery, useMe } from '../api'
import Inbox from '../requests/badge'
import { Button } from '../ui/button'
import { Icons } from '../ui/icons'
import { Menu, type MenuEntry } from '../ui/menu'
import { useStoredNames } from '../ui/stored'

interface Item {
  label: string
  to: LinkProps['to']
  icon: ComponentType
  /** How many of its items wait for the person. */
  count?: ComponentType
}

/** The pages of every day, in groups. */
const daily: { label: string; items: Item[] }[] = [
  {
    label: 'Releases',
    items: [
      { label: 'Projects', to: '/projects', icon: Icons.Folder },
      { label: 'Flags', to: '/flags', icon: Icons.Flag },
      { label: 'Segments', to: '/segments', icon: Icons.Target },
      { label: 'Change requests', to: '/change-requests', icon: Icons.Shield, count: Inbox },
      { label: 'Playground', to: '/playground', icon: Icons.Play },
    ],
  },
  {
    label: 'Insight',
    items: [
      { label: 'Applications', to: '/applications', icon: Icons.App },
      { label: 'Connect', to: '/connect', icon: Icons.Plug },
      { label: 'Audit log', to: '/audit', icon: Icons.Clock },
    ],
  },
]

/** The pages that are needed a few times a year. */
const administration: Item[] = [
  { label: 'Environments', to: '/environments', icon: Icons.Globe },
  { label: 'API tokens', to: '/tokens', icon: Icons.Key },
  { label: 'Users', to: '/users', icon: Icons.Users },
  { label: 'Roles', to: '/roles', icon: Icons.Shield },
  { label: 'Service accounts', to: '/service-accounts', icon: Icons.Robot },
  { label: 'Context fields', to: '/context', icon: Icons.Sliders },
  { label: 'Strategies', to: '/strategies', icon: Icons.Layers },
  { label: 'Release templates', to: '/release-templates', icon: Icons.Chart },
  { label: 'Tag types', to: '/tag-types', icon: Icons.Tag },
  { label: 'Webhooks', to: '/webhooks', icon: Icons.Hook },
  { label: 'Import and export', to: '/import', icon: Icons.Swap },
]

/** Pages that only administrators can read. */
const adminOnly: LinkProps['to'][] = ['/users', '/roles']

/** All pages of the navigation. */
export const navigationPages: readonly Item[] = [...daily.flatMap((group) => group.items), ...administration]

/** The navigation of the console. */
export function Nav() {
  return (
    <nav id="navigation" aria-label="Main" className="nav">
      <ProjectSwitcher />
      {daily.map((group) => (
        <div key={group.label} className="nav-group">
          <h2 className="nav-heading">{group.label}</h2>
          <Items items={group.items} />
        </div>
      ))}
      <Administration />
      <a className="nav-link" href="/docs" target="_blank" rel="noreferrer">
        <Icons.Book />
        API docs
        <span className="visually-hidden">(opens a new tab)</span>
      </a>
    </nav>
  )
}

function Items({ items }: { items: readonly Item[] }) {
  return (
    <ul>
      {items.map(({ label, to, icon: Icon, count: Count }) => (
        <li key={label}>
          <Link to={to} className="nav-link" activeOptions={{ includeSearch: false }} activeProps={{ 'aria-current': 'page' }}>
            <Icon />
            {label}
            {Count && <Count />}
          </Link>
        </li>
      ))}
    </ul>
  )
}

// Closed until a person opens it, which this browser remembers, or goes to one of its pages.
function Administration() {
  const { isAdmin } = useMe()
  const [kept, keep] = useStoredNames('guidon-navigation')
  const inside = useRouterState({ select: ({ location }) => administration.some(({ to }) => `${location.pathname}/`.startsWith(`${to}/`)) })
  const [was, setWas] = useState(inside)
  const [open, setOpen] = useState(inside || kept.has('administration'))
  if (inside !== was) {
    setWas(inside)
    setOpen(inside || kept.has('administration'))
  }
  const toggle = () => {
    setOpen(!open)
    keep('administration', !open)
  }
  return (
    <div className="nav-group">
      <h2>
        <button type="button" className="nav-link nav-toggle" aria-expanded={open} aria-controls="navigation-administration" onClick={toggle}>
          {open ? <Icons.Chevron /> : <Icons.ChevronRight />}
          Administration
        </button>
      </h2>
      <div id="navigation-administration" hidden={!open}>
        <Items items={isAdmin ? administration : administration.filter(({ to }) => !adminOnly.includes(to))} />
      </div>
    </div>
  )
}

/** Where this browser keeps the project that was opened last. */
export const lastProject = 'guidon-project'
const shownProjects = 30

function ProjectSwitcher() {
  const projects = useQuery({ ...apiQuery('/api/admin/projects'), staleTime: 60_000 })
  const inPath = useRouterState({ select: (state) => /^\/projects\/([^/]+)/.exec(state.location.pathname)?.[1] })
  const current = inPath === undefined ? undefined : decodeURIComponent(inPath)
  useEffect(() => {
    try {
      if (current) localStorage.setItem(lastProject, current)
    } catch {
      // Storage is blocked: no project is remembered.
    }
  }, [current])
  const all = projects.data?.projects ?? []
  const name = all.find((project) => project.id === current)?.name ?? current ?? 'All projects'
  const entries: MenuEntry[] = all.slice(0, shownProjects).map((project) => ({
    label: project.name,
    link: { to: '/projects/$projectId', params: { projectId: project.id } },
    checked: project.id === current,
  }))
  return (
    <div className="nav-project">
      <Menu
        align="start"
        heading="Project"
        trigger={
          <Button className="nav-switcher" icon={<Icons.Folder />}>
            <span className="visually-hidden">Project: </span>
            <span className="nav-switcher-name">{name}</span>
            <Icons.Chevron />
          </Button>
        }
        entries={[...entries, ...(entries.length ? (['separator'] as const) : []), { label: 'All projects', link: { to: '/projects' } }]}
      />
    </div>
  )
}
