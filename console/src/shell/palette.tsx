import { Autocomplete as Base } from '@base-ui/react/autocomplete'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, type LinkProps } from '@tanstack/react-router'
import { useEffect, useState, type ComponentProps, type ComponentType } from 'react'
import { apiQuery } from '../api'
import { Icons } from '../ui/icons'
import '../ui/menu.css'
import { navigationPages } from './nav'
import './palette.css'

/** Something that the palette leads to. */
interface Target {
  key: string
  label: string
  /** What it is: 'Page', or the project of a flag. */
  note: string
  icon: ComponentType
  link: LinkProps
}

const pages: Target[] = [...navigationPages, { label: 'Profile', to: '/profile' as const, icon: Icons.User }].map(({ label, to, icon }) => ({
  key: `page ${to}`,
  label,
  note: 'Page',
  icon,
  link: { to },
}))

const shown = 8

interface PaletteProps {
  /** The field that had the focus while this was loaded, and its text. */
  field: Pick<ComponentProps<'input'>, 'className' | 'aria-label' | 'placeholder' | 'maxLength' | 'autoFocus'>
  text: string
  onText: (text: string) => void
  onClose: () => void
}

/** Finds pages, projects, flags and segments by name, and goes there. */
export default function Palette({ field, text, onText, onClose }: PaletteProps) {
  const navigate = useNavigate()
  const targets = useTargets(text)
  const go = (target: Target) => {
    onClose()
    void navigate(target.link as never)
  }
  return (
    <Base.Root<Target>
      inline
      open
      autoHighlight="always"
      keepHighlight
      items={targets}
      filteredItems={targets}
      itemToStringValue={(target) => target.label}
      value={text}
      onValueChange={(next, { reason }) => reason !== 'item-press' && onText(next)}
    >
      <Base.Input {...field} />
      <Base.Empty className="menu-empty">Nothing matches.</Base.Empty>
      <Base.List className="palette-list" aria-label="Matches">
        {(target: Target) => (
          <Base.Item key={target.key} value={target} className="menu-item" onClick={() => go(target)}>
            <target.icon />
            <span className="grow break">{target.label}</span>
            <span className="soft small">{target.note}</span>
          </Base.Item>
        )}
      </Base.List>
    </Base.Root>
  )
}

function useTargets(text: string): Target[] {
  const [query, setQuery] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setQuery(text.trim()), 150)
    return () => clearTimeout(timer)
  }, [text])
  const projects = useQuery({ ...apiQuery('/api/admin/projects'), staleTime: 60_000 }).data?.projects ?? []
  const segments = useQuery({ ...apiQuery('/api/admin/segments'), staleTime: 60_000 }).data?.segments ?? []
  const flags = useQuery({
    ...apiQuery('/api/admin/search/features', { query: { query, limit: String(shown), sortBy: 'name' } }),
    enabled: query !== '',
    placeholderData: keepPreviousData,
  }).data?.features
  const wanted = text.trim().toLowerCase()
  const matches = (...names: string[]) => names.some((name) => name.toLowerCase().includes(wanted))
  const found: Target[] = [
    ...(wanted && query ? (flags ?? []) : [])
      .filter((flag) => matches(flag.name))
      .map((flag) => ({
        key: `flag ${flag.name}`,
        label: flag.name,
        note: `Flag in ${flag.project}`,
        icon: Icons.Flag,
        link: { to: '/projects/$projectId/flags/$flag', params: { projectId: flag.project, flag: flag.name } } as LinkProps,
      })),
    ...projects
      .filter((project) => matches(project.name, project.id))
      .slice(0, shown)
      .map((project) => ({
        key: `project ${project.id}`,
        label: project.name,
        note: 'Project',
        icon: Icons.Folder,
        link: { to: '/projects/$projectId', params: { projectId: project.id } } as LinkProps,
      })),
    ...pages.filter((page) => matches(page.label)),
    ...(wanted ? segments : [])
      .filter((segment) => matches(segment.name))
      .slice(0, shown)
      .map((segment) => ({
        key: `segment ${segment.id}`,
        label: segment.name,
        note: 'Segment',
        icon: Icons.Target,
        link: { to: '/segments/$id', params: { id: String(segment.id) } } as LinkProps,
      })),
  ]
  const rank = (target: Target) => (target.label.toLowerCase() === wanted ? 0 : target.label.toLowerCase().startsWith(wanted) ? 1 : 2)
  if (!wanted) return found
  found.sort((a, b) => rank(a) - rank(b))
  const all: Target = {
    key: 'all',
    label: `Search all flags for “${text.trim()}”`,
    note: '',
    icon: Icons.Search,
    link: { to: '/search', search: { q: text.trim() } as never },
  }
  return [...found, all]
}
