import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, apiQuery, useChange, type Schema } from '../../api'
import { FormActions, useForm } from '../../forms'
import { Button, Checkbox, ConfirmDialog, DateTime, Dialog, Icons, TextField } from '../../ui'
import { localZone } from '../../ui/dates'

type Freeze = Schema<'Freeze'>

const path = '/api/admin/projects/{projectId}/environments/{environment}/freezes'
// A key of its own: removing the environment reads again what is below the project, and these would return 404.
const key = '/api/admin/freezes'
const invalidates = [key, '/api/admin/projects']

interface FreezesProps {
  projectId: string
  environment: string
  /** Why the caller cannot set or lift freezes. */
  reason?: string
}

/** The freezes of an environment of a project: those of the project can be set and lifted here. */
export function Freezes({ projectId, environment, reason }: FreezesProps) {
  const [adding, setAdding] = useState(false)
  const [lifting, setLifting] = useState<Freeze>()
  const query = useQuery({ ...apiQuery(path, { path: { projectId, environment } }), queryKey: [key, projectId, environment], staleTime: 60_000 })
  const freezes = query.data?.freezes ?? []
  const lift = useChange({
    change: ({ id }: Freeze) => api.delete(`${path}/{freezeId}`, { path: { projectId, environment, freezeId: id } }),
    invalidates,
    success: 'Freeze lifted',
    showsErrors: true,
  })
  return (
    <>
      <div className="row-apart project-default">
        <p className="grow">
          <span className="soft">Freezes: </span>
          {query.data && freezes.length === 0 && 'none.'}
        </p>
        <Button size="small" icon={<Icons.Clock />} aria-label={`Freeze ${environment}`} disabledReason={reason} onClick={() => setAdding(true)}>
          Freeze
        </Button>
      </div>
      {freezes.length > 0 && (
        <ul className="stack-s" aria-label={`Freezes of ${environment}`}>
          {freezes.map((freeze) => (
            <li key={freeze.id} className="row-apart">
              <span className="grow break">
                <span className="strong">{freeze.reason}</span> <When freeze={freeze} />{' '}
                <span className="soft">
                  {freeze.offAllowed ? 'Flags can only be switched off.' : 'Flags cannot change.'}
                  {freeze.ofService && ' It applies to all projects.'}
                </span>
              </span>
              {!freeze.ofService && (
                <Button size="small" aria-label={`Lift the freeze: ${freeze.reason}`} disabledReason={reason} onClick={() => setLifting(freeze)}>
                  Lift
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {adding && <FreezeDialog projectId={projectId} environment={environment} onClose={() => setAdding(false)} />}
      <ConfirmDialog
        open={lifting !== undefined}
        onClose={() => setLifting(undefined)}
        title={`Lift the freeze “${lifting?.reason}”?`}
        description={`Unless another freeze is in effect, flags can change in ${environment} again, and approved change requests can be applied.`}
        action="Lift freeze"
        onConfirm={() => lift.mutateAsync(lifting!)}
      />
    </>
  )
}

function When({ freeze: { from, to, weekly } }: { freeze: Freeze }) {
  if (weekly)
    return (
      <>
        each week from {weekly.from} to {weekly.to} ({weekly.zone}).
      </>
    )
  return (
    <>
      from <DateTime value={from} absolute /> to <DateTime value={to} absolute />.
    </>
  )
}

// The server takes a freeze without a beginning as one that begins now, and says what is wrong with others.
function FreezeDialog({ projectId, environment, onClose }: FreezesProps & { onClose: () => void }) {
  const add = useChange({
    change: (body: Schema<'FreezeRequest'>) => api.post(path, { path: { projectId, environment }, body }),
    invalidates,
    success: 'Freeze set',
    showsErrors: true,
    onSuccess: onClose,
  })
  const form = useForm({
    initial: { reason: '', from: '', to: '', offAllowed: true },
    submit: ({ reason, from, to, offAllowed }) =>
      add.mutateAsync({ reason: reason.trim(), from: from === '' ? undefined : new Date(from).toISOString(), to: new Date(to).toISOString(), offAllowed }),
    check: ({ to }) => ({ to: to === '' ? 'Choose when it ends.' : '' }),
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Freeze ${environment}`}
      description="In a freeze, flags only change here for people who may skip it. Approved change requests wait."
    >
      <form {...form.props}>
        <TextField label="Reason" required maxLength={255} {...form.field('reason')} hint="People whose changes are refused see it, such as: Holidays." />
        <TextField label={`From (${localZone})`} type="datetime-local" {...form.field('from')} hint="Leave it empty to begin now." />
        <TextField label={`To (${localZone})`} type="datetime-local" required {...form.field('to')} />
        <Checkbox label="Flags can be switched off" checked={form.values.offAllowed} onChange={(offAllowed) => form.set({ offAllowed })} />
        <FormActions form={form} submit="Freeze" onCancel={onClose} />
      </form>
    </Dialog>
  )
}
