import { Autocomplete as Base } from '@base-ui/react/autocomplete'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useRouterState, type LinkProps } from '@tanstack/react-router'
import { useEffect, useState, type ComponentProps, type ComponentType } from 'react'
import { apiQuery, useMe } from '../api'
import { Icons } from '../ui/icons'
import '../ui/menu.css'
import { readStored, writeStored } from '../ui/stored'
import { toast } from '../ui/toasts'
import { useRowSwitch } from '../pages/flags/useswitch'
import { lastProject, navigationPages } from './nav'
import './palette.css'
import { setTheme, type Theme } from './theme'

/** Something that the palette leads to, or does. */
interface Target {
  key: string
  label: string
  /** What it is: 'Page', or the project of a flag. */
  note: string
  icon: ComponentType
  link?: LinkProps
  act?: () => void
  /** Its action asks in a dialog of its own: the palette stays. */
  stays?: boolean
}

const pages: Target[] = [...navigationPages, { label: 'Profile', to: '/profile' as const, icon: Icons.User }].map(({ label, to, icon }) => ({
  key: `page ${to}`,
  label,
  note: 'Page',
  icon,
  link: { to },
}))

const shown = 8
/** How many flags with one of the words are looked at for the others. */
const searched = 50

interface PaletteProps {
  /** The field that had the focus while this was loaded, and its text. */
  field: Pick<ComponentProps<'input'>, 'className' | 'aria-label' | 'placeholder' | 'maxLength' | 'autoFocus'>
  text: string
  onText: (text: string) => void
  onClose: () => void
}

/** Finds actions, pages, projects, flags and segments by name, and does them or goes there. What was opened last comes first. */
export default function Palette({ field, text, onText, onClose }: PaletteProps) {
  const navigate = useNavigate()
  const [actions, questions] = useActions(onClose)
  const targets = useTargets(text, actions)
  const go = (target: Target) => {
    if (!target.stays) onClose()
    target.act?.()
    if (!target.link) return
    remember(target)
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
      {questions}
    </Base.Root>
  )
}

const themes: Theme[] = ['light', 'dark', 'system']

// What can be done here: on the page of a flag also its switches.
function useActions(onClose: () => void): [Target[], React.ReactNode] {
  const { can } = useMe()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const [project, flag] =
    /^\/projects\/([^/]+)(?:\/flags\/([^/]+))?/
      .exec(path)
      ?.slice(1)
      .map((part) => part && decodeURIComponent(part)) ?? []
  const row = useQuery({
    ...apiQuery('/api/admin/projects/{projectId}/features/{featureName}', { path: { projectId: project ?? '', featureName: flag ?? '' } }),
    enabled: flag !== undefined,
    staleTime: 60_000,
  }).data
  const projects = useQuery({ ...apiQuery('/api/admin/projects'), staleTime: 60_000 }).data?.projects ?? []
  const { allowed, onSwitch, questions } = useRowSwitch(project === undefined ? [] : [project], onClose)
  const target = project ?? readStored(lastProject) ?? 'default'
  const note = `In ${projects.find(({ id }) => id === target)?.name ?? target}`
  const copy = () =>
    navigator.clipboard.writeText(location.href).then(
      () => toast.success('Link copied'),
      () => toast.error('The browser does not allow copying here. Copy the address of the page.'),
    )
  const actions: (Target | false)[] = [
    ...(row?.environments ?? []).map(
      (environment) =>
        allowed(row!.project, environment.name).allowed && {
          key: `switch ${environment.name}`,
          label: `Switch ${environment.enabled ? 'off' : 'on'} in ${environment.name}`,
          note: row!.name,
          icon: Icons.Switch,
          act: () => onSwitch(row!, environment, !environment.enabled),
          stays: true,
        },
    ),
    can('CREATE_FEATURE', target).allowed && {
      key: 'create flag',
      label: 'Create flag',
      note,
      icon: Icons.Plus,
      link: { to: '/projects/$projectId', params: { projectId: target }, search: { create: true } as never },
    },
    can('CREATE_PROJECT').allowed && {
      key: 'create project',
      label: 'Create project',
      note: 'Action',
      icon: Icons.Plus,
      link: { to: '/projects', search: { create: true } as never },
    },
    { key: 'signals', label: 'Signals', note, icon: Icons.Hook, link: { to: '/projects/$projectId/signals', params: { projectId: target } } },
    { key: 'copy', label: 'Copy link to this page', note: 'Action', icon: Icons.Copy, act: () => void copy() },
    ...themes.map((theme) => ({ key: `theme ${theme}`, label: `Theme: ${theme}`, note: 'Action', icon: Icons.Screen, act: () => setTheme(theme) })),
  ]
  return [actions.filter((one) => one !== false), questions]
}

const recentKey = 'guidon-recent'

// The flags, projects and segments that were opened from here, the last first.
interface Recent extends Pick<Target, 'key' | 'label' | 'note'> {
  link: { to: string; params?: Record<string, string> }
}

function recent(): Target[] {
  try {
    const found = JSON.parse(readStored(recentKey) ?? '[]') as Recent[]
    return found.map((one) => ({ ...one, icon: Icons.Clock, link: one.link as LinkProps }))
  } catch {
    return []
  }
}

function remember({ key, label, note, link }: Target) {
  if (!/^(flag|project|segment) /.test(key)) return
  const others = recent().filter((one) => one.key !== key)
  writeStored(recentKey, JSON.stringify([{ key, label, note, link }, ...others.map(({ key, label, note, link }) => ({ key, label, note, link }))].slice(0, 5)))
}

// Words are found in any order, and what divides those of a name does not matter.
const wordsOf = (text: string) => text.split(/[\s._-]+/).filter(Boolean)

// Whether a text has a word that begins so, with one letter wrong or missing after the first.
const isNear = (word: string, text: string) =>
  word.length >= 4 &&
  wordsOf(text).some((other) =>
    [...word].some((_, at) => at > 0 && [at, at + 1].some((rest) => other.startsWith(word.slice(0, at) + other.charAt(at) + word.slice(rest)))),
  )
const longest = (words: readonly string[]) => [...words].sort((a, b) => b.length - a.length)[0] ?? ''

function useTargets(text: string, actions: Target[]): Target[] {
  const [query, setQuery] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setQuery(text.trim()), 150)
    return () => clearTimeout(timer)
  }, [text])
  const projects = useQuery({ ...apiQuery('/api/admin/projects'), staleTime: 60_000 }).data?.projects ?? []
  const segments = useQuery({ ...apiQuery('/api/admin/segments'), staleTime: 60_000 }).data?.segments ?? []
  const flags = useQuery({
    ...apiQuery('/api/admin/search/features', { query: { query: longest(wordsOf(query)), limit: String(searched), sortBy: 'name' } }),
    enabled: query !== '',
    placeholderData: keepPreviousData,
  }).data?.features
  const wanted = text.trim().toLowerCase()
  const words = wordsOf(wanted)
  if (!wanted) return [...recent(), ...actions, ...pages]
  const matches = (...names: string[]) => {
    const all = names.join(' ').toLowerCase()
    return words.every((word) => all.includes(word) || isNear(word, all))
  }
  const found: Target[] = [
    ...(query ? (flags ?? []) : [])
      .filter((flag) => matches(flag.name))
      .slice(0, shown)
      .map((flag) => ({
        key: `flag ${flag.name}`,
        label: flag.name,
        note: `Flag in ${projects.find(({ id }) => id === flag.project)?.name ?? flag.project}`,
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
    ...actions.filter((action) => matches(action.label, action.note)),
    ...pages.filter((page) => matches(page.label)),
    ...segments
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
  found.sort((a, b) => rank(a) - rank(b))
  const all: Target = {
    key: 'all',
    label: `Search all flags for “${text.trim()}”`,
    note: '',
    icon: Icons.Search,
    link: { to: '/flags', search: { q: text.trim() } as never },
  }
  return [...found, all]
}
