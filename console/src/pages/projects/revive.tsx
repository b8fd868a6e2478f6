import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { api, useChange, useMe, type Schema } from '../../api'
import { SkipsFreeze } from '../../requests/freeze'
import { ConfirmDialog, ProductionMark, RadioGroup, plural } from '../../ui'
import { expectOffEverywhere, lostParents, restore, type Parents } from './restore'

type Flag = Schema<'ArchivedFeature'>

/** The flags that one request revives. */
export const maxBulk = 100

/** Revives flags. It asks first whether those that were on somewhere should be on there again: render question. */
export function useRevive(projectId: string, onSuccess?: () => void): { start: (flags: Flag[]) => void; pending?: Flag[]; question: ReactNode } {
  const { can } = useMe()
  const [asking, setAsking] = useState<Flag[]>()
  const revive = useChange({
    change: ({ flags, on, parents }: { flags: Flag[]; on: boolean; parents?: Parents }) =>
      restore(
        projectId,
        flags.map(({ name, wasEnabledIn }) => ({
          name,
          environments: on ? wasEnabledIn.map((environment) => ({ name: environment, enabled: true, lastSeenAt: null })) : [],
        })),
        parents ?? new Map(),
      ),
    invalidates: ['/api/admin/archive', '/api/admin/projects', '/api/admin/search', '/api/admin/features', '/api/admin/events', '/api/admin/segments'],
    success: (_, { flags, on }) =>
      `${flags.length === 1 ? `${flags[0]!.name} is` : `${plural(flags.length, 'flag')} are`} active again, and ${on ? `on where ${flags.length === 1 ? 'it was' : 'they were'} on` : 'off in all environments'}.`,
    undo: async ({ flags, on }) => {
      const names = flags.map(({ name }) => name)
      if (!on) await expectOffEverywhere(projectId, names)
      await api.post('/api/admin/projects/{projectId}/archive', { path: { projectId }, body: { features: names } })
    },
    onSuccess,
  })
  const start = (flags: Flag[]) => {
    // Offer only environments in which the person may switch flags on.
    const were = flags.map((flag) => ({
      ...flag,
      wasEnabledIn: flag.wasEnabledIn.filter((environment) => can('UPDATE_FEATURE_ENVIRONMENT', projectId, environment).allowed),
    }))
    if (were.some((flag) => flag.wasEnabledIn.length > 0)) setAsking(were)
    else revive.mutate({ flags, on: false })
  }
  return {
    start,
    pending: revive.isPending ? revive.variables.flags : undefined,
    question: asking && (
      <ReviveDialog
        projectId={projectId}
        flags={asking}
        onClose={() => setAsking(undefined)}
        onRevive={(on, parents) => revive.mutateAsync({ flags: asking, on, parents })}
      />
    ),
  }
}

interface ReviveDialogProps {
  projectId: string
  flags: Flag[]
  onClose: () => void
  onRevive: (on: boolean, parents?: Parents) => Promise<unknown>
}

// Offers the state that flags had when they were archived. Where they are on again, they depend on the same parents: without, more users would get them.
function ReviveDialog({ projectId, flags, onClose, onRevive }: ReviveDialogProps) {
  const [state, setState] = useState<'off' | 'on'>('off')
  const were = flags.filter((flag) => flag.wasEnabledIn.length > 0)
  const names = were.map(({ name }) => name)
  const lost = useQuery({ queryKey: ['/api/admin/events', { lostBy: names }], queryFn: () => lostParents(names), gcTime: 0 })
  const one = flags.length === 1
  const lostSome = lost.data !== undefined && lost.data.size > 0
  return (
    <ConfirmDialog
      open
      danger={false}
      onClose={onClose}
      title={one ? `Revive ${flags[0]!.name}?` : `Revive ${plural(flags.length, 'flag')}?`}
      description={`${one ? 'It has its' : 'They have their'} strategies again. Applications get ${one ? 'it' : 'them'} with their next request.`}
      action="Revive"
      // Without their parents the flags would be on for more users than before, so a log that cannot be read ends this.
      onConfirm={async () => onRevive(state === 'on', state === 'on' ? (lost.data ?? (await lostParents(names))) : undefined)}
    >
      <RadioGroup
        label="State"
        value={state}
        onChange={setState}
        choices={[
          { value: 'off', label: 'Off in all environments', hint: lostSome ? `${one ? 'It then depends' : 'They then depend'} on no other flag.` : undefined },
          {
            value: 'on',
            label: one ? 'On where it was on' : 'On where they were on',
            hint: `With the same strategies${lostSome ? ' and the same parents' : ''} as when archived.`,
          },
        ]}
      />
      {state === 'on' &&
        [...new Set(were.flatMap(({ wasEnabledIn }) => wasEnabledIn))].map((name) => <SkipsFreeze key={name} project={projectId} environment={name} />)}
      <ul aria-label="Where flags were on">
        {were.slice(0, maxBulk).map(({ name, wasEnabledIn, environments }) => (
          <li key={name} className="break">
            <span className="strong">{name}</span>{' '}
            <span className="soft">
              was on in{' '}
              {wasEnabledIn.map((environment, index) => (
                <span key={environment}>
                  {index > 0 && ', '}
                  {environment} <ProductionMark type={environments.find((one) => one.name === environment)?.type ?? ''} />
                </span>
              ))}
              {lost.data?.has(name) &&
                ` and depended on ${lost.data
                  .get(name)!
                  .map(({ feature }) => feature)
                  .join(' and ')}`}
            </span>
          </li>
        ))}
      </ul>
    </ConfirmDialog>
  )
}
