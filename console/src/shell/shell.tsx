import { useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useRouter, useRouterState } from '@tanstack/react-router'
import { Suspense, lazy, useCallback, useEffect, useState } from 'react'
import { send, useMe } from '../api'
import { useReachable } from '../api/reachable'
import { Button, IconButton } from '../ui/button'
import { dayText, localZone, setDates, useDates, type DateSettings } from '../ui/dates'
import { setComfortable, useDensity } from '../ui/density'
import { Dialog } from '../ui/dialog'
import { Icons } from '../ui/icons'
import { Menu, type MenuEntry } from '../ui/menu'
import { closeOldToasts, Toasts, toast } from '../ui/toasts'
import { KeysDialog, useKeys } from './keys'
import { LeaveGuard } from './leave'
import { Logo } from './logo'
import { Nav } from './nav'
import './shell.css'
import { setTheme, useTheme, type Theme } from './theme'

/** The frame around all pages but the sign-in page. */
export function Shell() {
  const signIn = useRouterState({ select: (state) => state.location.pathname === '/sign-in' })
  useFocusOnNavigation()
  return (
    <>
      {signIn ? (
        <main id="content">
          <Outlet />
        </main>
      ) : (
        <Frame />
      )}
      <LeaveGuard />
      <Toasts />
    </>
  )
}

function Frame() {
  const path = useRouterState({ select: (state) => state.location.pathname })
  // The page on which the navigation was opened: it closes when another is shown.
  const [openAt, setOpenAt] = useState<string>()
  const open = openAt === path
  return (
    <div className="shell" data-nav-open={open || undefined}>
      <a className="skip-link" href="#content" onClick={focusContent}>
        Skip to content
      </a>
      <header className="bar">
        <span className="bar-menu">
          <IconButton
            label={open ? 'Close navigation' : 'Open navigation'}
            aria-expanded={open}
            aria-controls="navigation"
            icon={open ? <Icons.Close /> : <Icons.Menu />}
            onClick={() => setOpenAt(open ? undefined : path)}
          />
        </span>
        <Link to="/projects" className="brand">
          <Logo />
          Guidon
        </Link>
        <SearchBox />
        <div className="row bar-end">
          <ThemeMenu />
          <UserMenu />
        </div>
      </header>
      <div className="side" onKeyDown={(event) => event.key === 'Escape' && setOpenAt(undefined)}>
        <Nav />
      </div>
      <main id="content" tabIndex={-1} className="content">
        <OfflineBanner />
        <Outlet />
      </main>
    </div>
  )
}

function focusContent(event: { preventDefault: () => void }) {
  event.preventDefault()
  document.getElementById('content')?.focus()
}

// After a navigation the focus moves to the heading, so that screen readers tell where the person is.
function useFocusOnNavigation() {
  const router = useRouter()
  useEffect(
    () =>
      router.subscribe('onRendered', (event) => {
        if (event.pathChanged) closeOldToasts()
        if (!event.fromLocation || event.fromLocation.pathname === event.toLocation.pathname) return
        const heading = document.querySelector<HTMLElement>('#content h1') ?? document.getElementById('content')
        heading?.focus({ preventScroll: true })
      }),
    [router],
  )
}

// The palette is loaded when it is first opened, so that it costs the first page nothing.
const Palette = lazy(() => import('./palette'))

function SearchBox() {
  const [open, setOpen] = useState<'search' | 'keys'>()
  const search = useCallback(() => setOpen('search'), [])
  const help = useCallback(() => setOpen('keys'), [])
  const close = () => setOpen(undefined)
  useKeys({ onSearch: search, onHelp: help })
  return (
    <>
      <button type="button" className="bar-search" aria-haspopup="dialog" aria-keyshortcuts="Control+K Meta+K" onClick={search}>
        <Icons.Search />
        <span className="grow">Search or go to…</span>
        <kbd aria-hidden="true">Ctrl K</kbd>
      </button>
      {open === 'search' && <SearchDialog onClose={close} />}
      {open === 'keys' && <KeysDialog onClose={close} />}
    </>
  )
}

const searchField = {
  className: 'input',
  'aria-label': 'Name of a flag, project, segment, page or action',
  placeholder: 'Flag, project, segment, page or action',
  maxLength: 100,
  autoFocus: true,
}

// The field takes what is typed while the palette is loaded.
function SearchDialog({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  return (
    <Dialog open bare onClose={onClose} title="Search or go to">
      <Suspense fallback={<input {...searchField} value={text} onChange={(event) => setText(event.target.value)} />}>
        <Palette field={searchField} text={text} onText={setText} onClose={onClose} />
      </Suspense>
    </Dialog>
  )
}

const themes: { value: Theme; label: string; icon: () => React.JSX.Element }[] = [
  { value: 'system', label: 'System', icon: Icons.Screen },
  { value: 'light', label: 'Light', icon: Icons.Sun },
  { value: 'dark', label: 'Dark', icon: Icons.Moon },
]

function ThemeMenu() {
  const theme = useTheme()
  const Current = themes.find((one) => one.value === theme)?.icon ?? Icons.Screen
  return (
    <Menu
      heading="Theme"
      trigger={<IconButton label="Theme" icon={<Current />} />}
      entries={themes.map(({ value, label, icon: Icon }) => ({ label, icon: <Icon />, checked: value === theme, onSelect: () => setTheme(value) }))}
    />
  )
}

function UserMenu() {
  const me = useMe()
  const client = useQueryClient()
  const navigate = useNavigate()
  const dates = useDates()
  const { comfortable } = useDensity()
  const signOut = async () => {
    try {
      await send('post', '/auth/sign-out', { quiet: true })
    } catch {
      toast.error('Signing out failed. Try again.')
      return
    }
    client.clear()
    await navigate({ to: '/sign-in' })
  }
  // With AUTH_TYPE=none every caller is an admin token.
  const open = me.user?.isAPI ?? false
  return (
    <Menu
      heading={
        <>
          <span className="strong">{me.name}</span>
          {me.user?.email && <span className="menu-reason">{me.user.email}</span>}
          {open && <span className="menu-reason">No sign-in is needed (AUTH_TYPE=none).</span>}
        </>
      }
      trigger={
        <Button variant="quiet" icon={<Icons.User />} aria-label={`Account of ${me.name}`}>
          <span className="bar-name">{me.name}</span>
        </Button>
      }
      entries={[
        { label: 'Profile', icon: <Icons.User />, link: { to: '/profile' } },
        ...dateEntries(dates),
        'separator',
        { label: 'Comfortable rows', checked: comfortable, onSelect: () => setComfortable(!comfortable) },
        ...(open ? [] : (['separator', { label: 'Sign out', icon: <Icons.Out />, onSelect: () => void signOut() }] as const)),
      ]}
    />
  )
}

// How dates are written, kept in this browser. The entries show it with the present time.
function dateEntries(dates: DateSettings): MenuEntry[] {
  const now = new Date()
  const choice = (label: string, next: Partial<DateSettings>) => ({
    label,
    checked: Object.entries(next).every(([name, value]) => dates[name as keyof DateSettings] === value),
    onSelect: () => setDates({ ...dates, ...next }),
  })
  return [
    'separator',
    choice(`Times in my time zone, ${localZone}`, { zone: 'local' }),
    choice('Times in UTC', { zone: 'utc' }),
    'separator',
    choice(`Dates as ${dayText(now, { ...dates, form: 'locale' })}`, { form: 'locale' }),
    choice(`Dates as ${dayText(now, { ...dates, form: 'iso' })} (ISO)`, { form: 'iso' }),
  ]
}

function OfflineBanner() {
  const reachable = useReachable()
  const client = useQueryClient()
  if (reachable) return null
  return (
    <div className="offline" role="status">
      <Icons.Warning />
      <span className="grow">The server cannot be reached. This page may be out of date.</span>
      <Button size="small" onClick={() => void client.refetchQueries({ type: 'active' })}>
        Try again
      </Button>
    </div>
  )
}
