import { useState, type ReactNode } from 'react'
import { api, useChange, useMe, type Schema } from '../../api'
import { ConfirmDialog, ProductionMark, RadioGroup, plural } from '../../ui'
import { restore } from './restore'

type Flag = Schema<'ArchivedFeature'>

/** The flags that one request revives. */
export const maxBulk = 100

/** Revives flags. It asks first whether those that were on somewhere should be on there again: render question. */
export function useRevive(projectId: string, onSuccess?: () => void): { start: (flags: Flag[]) => void; pending?: Flag[]; question: ReactNode } {
  const { can } = useMe()
  const [asking, setAsking] = useState<Flag[]>()
  const revive = useChange({
    change: ({ flags, on }: { flags: Flag[]; on: boolean }) =>
      restore(
        projectId,
        flags.map(({ name, wasEnabledIn }) => ({
          name,
          environments: on ? wasEnabledIn.map((environment) => ({ name: environment, enabled: true, lastSeenAt: null })) : [],
        })),
        new Map(),
      ),
    invalidates: ['/api/admin/archive', '/api/admin/projects', '/api/admin/search', '/api/admin/features', '/api/admin/events', '/api/admin/segments'],
    success: (_, { flags, on }) =>
      `${flags.length === 1 ? `${flags[0]!.name} is` : `${plural(flags.length, 'flag')} are`} active again, and ${on ? 'on where they were on' : 'off in all environments'}.`,
    undo: ({ flags }) => api.post('/api/admin/projects/{projectId}/archive', { path: { projectId }, body: { features: flags.map(({ name }) => name) } }),
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
    question: asking && <ReviveDialog flags={asking} onClose={() => setAsking(undefined)} onRevive={(on) => revive.mutateAsync({ flags: asking, on })} />,
  }
}

interface ReviveDialogProps {
  flags: Flag[]
  onClose: () => void
  onRevive: (on: boolean) => Promise<unknown>
}

// Offers the state that flags had when they were archived.
function ReviveDialog({ flags, onClose, onRevive }: ReviveDialogProps) {
  const [state, setState] = useState<'off' | 'on'>('off')
  const were = flags.filter((flag) => flag.wasEnabledIn.length > 0)
  return (
    <ConfirmDialog
      open
      danger={false}
      onClose={onClose}
      title={flags.length === 1 ? `Revive ${flags[0]!.name}?` : `Revive ${plural(flags.length, 'flag')}?`}
      description="It has its strategies again, but depends on no other flag. Applications get it with their next request."
      action="Revive"
      onConfirm={() => onRevive(state === 'on')}
    >
      <RadioGroup
        label="State"
        value={state}
        onChange={setState}
        choices={[
          { value: 'off', label: 'Off in all environments' },
          { value: 'on', label: 'On where it was on', hint: 'As when it was archived, with the same strategies.' },
        ]}
      />
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
            </span>
          </li>
        ))}
      </ul>
    </ConfirmDialog>
  )
}
