import { useNavigate } from '@tanstack/react-router'
import { Suspense, lazy, useState } from 'react'
import { api, useChange } from '../../api'
import { Button, FavoriteButton, Icons, LinkButton, Menu, type MenuEntry } from '../../ui'
import { ArchiveDialog } from '../flags/archivedialog'
import { archiveFlag } from '../projects/restore'
import { environmentPath, flagKey, flagPath, touched, useReasons, type Flag } from './data'
import { CloneDialog, CompleteDialog, MoveDialog } from './dialogs'

type Open = 'clone' | 'move' | 'complete' | 'archive' | 'commands' | undefined

const CommandDialog = lazy(() => import('../../forms/command'))

/** The way to try the flag for a user, its favorite star and the menu of actions. */
export function FlagActions({ flag }: { flag: Flag }) {
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  const favorite = useFavorite(flag)
  const entries = useEntries(flag, setOpen)
  const environments = [...flag.environments].sort((a, b) => Number(b.enabled) - Number(a.enabled)).map((one) => one.name)
  // What the strategies read, for the person to fill in.
  const fields = new Set([
    'userId',
    ...flag.environments.flatMap((one) => one.strategies).flatMap((one) => one.constraints.map(({ contextName }) => contextName)),
  ])
  const context = new URLSearchParams([...fields].slice(0, 10).map((name) => [name, ''])).toString()
  const tryIt = { projects: flag.project, environments: environments.join(','), q: flag.name, context }
  return (
    <>
      <LinkButton icon={<Icons.Play />} to="/playground" search={tryIt as never}>
        Try it for a user
      </LinkButton>
      <FavoriteButton name={flag.name} favorite={flag.favorite} onChange={(next) => favorite.mutate(next)} />
      <Menu
        trigger={
          <Button>
            Actions
            <Icons.Chevron />
          </Button>
        }
        entries={entries}
      />
      {open === 'archive' && <ArchiveFlag flag={flag} onClose={close} />}
      {open === 'clone' && <CloneDialog flag={flag} onClose={close} />}
      {open === 'move' && <MoveDialog flag={flag} onClose={close} />}
      {open === 'complete' && <CompleteDialog flag={flag} onClose={close} />}
      {open === 'commands' && (
        <Suspense fallback={null}>
          <CommandDialog requests={commandsOf(flag)} onClose={close} />
        </Suspense>
      )}
    </>
  )
}

// What scripts do most: switch the flag in an environment.
function commandsOf(flag: Flag) {
  const path = { projectId: flag.project, featureName: flag.name }
  const switches = flag.environments.flatMap(({ name }) => {
    const request = { path: { ...path, environment: name } }
    return [
      [`Switch on in ${name}`, api.request.post(`${environmentPath}/on`, request)],
      [`Switch off in ${name}`, api.request.post(`${environmentPath}/off`, request)],
    ] as const
  })
  return Object.fromEntries(switches)
}

function useFavorite(flag: Flag) {
  const path = { projectId: flag.project, featureName: flag.name }
  return useChange({
    change: (favorite: boolean) => (favorite ? api.post(`${flagPath}/favorites`, { path }) : api.delete(`${flagPath}/favorites`, { path })),
    invalidates: touched,
    optimistic: (favorite) => [{ key: flagKey(flag), update: (old?: Flag) => old && { ...old, favorite } }],
  })
}

/** Marks a flag as stale or not, with Undo. */
export function useStale(flag: Flag) {
  const path = { projectId: flag.project, featureName: flag.name }
  const send = (stale: boolean) => api.put(flagPath, { path, body: { stale } })
  return useChange({
    change: send,
    invalidates: touched,
    optimistic: (stale) => [{ key: flagKey(flag), update: (old?: Flag) => old && { ...old, stale } }],
    success: (_, stale) => `${flag.name} is ${stale ? 'marked' : 'no longer marked'} as stale`,
    undo: (stale) => send(!stale),
  })
}

/** Undoes the completion of a flag. */
export function useUncomplete(flag: Flag) {
  const path = { projectId: flag.project, featureName: flag.name }
  return useChange({
    change: () => api.post(`${flagPath}/lifecycle/uncomplete`, { path }),
    invalidates: touched,
    success: `${flag.name} is no longer marked as completed`,
  })
}

/** Asks before the flag is archived. It then goes to the list of flags, with Undo. */
export function ArchiveFlag({ flag, onClose }: { flag: Flag; onClose: () => void }) {
  const navigate = useNavigate()
  const request = api.request.delete(flagPath, { path: { projectId: flag.project, featureName: flag.name } })
  const archive = useChange({
    requests: () => [request],
    change: async () => {
      const takeBack = await archiveFlag(flag.project, flag.name)
      // The page of an archived flag cannot be read again, so leave it first.
      await navigate({ to: '/projects/$projectId', params: { projectId: flag.project } })
      return takeBack
    },
    invalidates: touched,
    success: `Flag ${flag.name} archived`,
    undo: (_, takeBack) => takeBack(),
    showsErrors: true,
  })
  return <ArchiveDialog project={flag.project} flags={[flag]} onClose={onClose} onConfirm={() => archive.mutateAsync()} />
}

/** Why a flag cannot be archived: the flags that depend on it. */
export function archiveObstacle(flag: Flag): string | undefined {
  if (flag.children.length === 0) return undefined
  return `Other flags depend on it: ${flag.children.slice(0, 5).join(', ')}${flag.children.length > 5 ? ', …' : ''}. Remove their dependency first.`
}

function useEntries(flag: Flag, open: (dialog: Open) => void): MenuEntry[] {
  const reason = useReasons(flag)
  const stale = useStale(flag)
  const uncomplete = useUncomplete(flag)
  const params = { projectId: flag.project, flag: flag.name }
  const completed = flag.lifecycle.stage === 'completed'
  return [
    {
      label: 'Edit description and type',
      icon: <Icons.Edit />,
      link: { to: '/projects/$projectId/flags/$flag/settings', params },
      disabledReason: reason('UPDATE_FEATURE'),
    },
    { label: 'Clone…', icon: <Icons.Copy />, onSelect: () => open('clone'), disabledReason: reason('CREATE_FEATURE') },
    { label: 'Move to another project…', icon: <Icons.Folder />, onSelect: () => open('move'), disabledReason: reason('MOVE_FEATURE_TOGGLE') },
    'separator',
    {
      label: flag.stale ? 'Mark as not stale' : 'Mark as stale',
      icon: <Icons.Clock />,
      onSelect: () => stale.mutate(!flag.stale),
      disabledReason: reason('UPDATE_FEATURE'),
    },
    completed
      ? { label: 'Mark as not completed', icon: <Icons.Undo />, onSelect: () => uncomplete.mutate(), disabledReason: reason('UPDATE_FEATURE') }
      : { label: 'Mark as completed…', icon: <Icons.Check />, onSelect: () => open('complete'), disabledReason: reason('UPDATE_FEATURE') },
    { label: 'Show as commands', icon: <Icons.Code />, onSelect: () => open('commands') },
    'separator',
    {
      label: 'Archive…',
      icon: <Icons.Archive />,
      danger: true,
      onSelect: () => open('archive'),
      disabledReason: reason('DELETE_FEATURE') ?? archiveObstacle(flag),
    },
  ]
}
