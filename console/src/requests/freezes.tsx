import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, apiQuery, type Schema, useChange } from '../api'
import { FormDialog, useForm } from '../forms'
import { Button, Checkbox, ConfirmDialog, DateTime, Dialog, Icons, RadioGroup, Select, TextField } from '../ui'
import { localZone } from '../ui/dates'
import { SuggestField } from '../ui/suggest'

type Freeze = Schema<'Freeze'>

/** An environment, in a project or in all. */
interface Place {
  /** Absent for all projects. */
  projectId?: string
  environment: string
}

const ofProject = '/api/admin/projects/{projectId}/environments/{environment}/freezes'
const ofService = '/api/admin/freezes/{environmentName}'
// A key of its own: removing the environment reads again what is below the project, and these would return 404.
const key = '/api/admin/freezes'
const invalidates = [key, '/api/admin/projects']

const freezesQuery = ({ projectId, environment }: Place) => ({
  ...(projectId ? apiQuery(ofProject, { path: { projectId, environment } }) : apiQuery(ofService, { path: { environmentName: environment } })),
  queryKey: [key, projectId ?? '', environment],
  staleTime: 60_000,
})

const setRequest = ({ projectId, environment }: Place, body: Schema<'FreezeRequest'>) =>
  projectId
    ? api.request.post(ofProject, { path: { projectId, environment }, body })
    : api.request.post(ofService, { path: { environmentName: environment }, body })

const liftRequest = ({ projectId, environment }: Place, freezeId: string) =>
  projectId
    ? api.request.delete(`${ofProject}/{freezeId}`, { path: { projectId, environment, freezeId } })
    : api.request.delete(`${ofService}/{freezeId}`, { path: { environmentName: environment, freezeId } })

interface FreezesProps extends Place {
  /** Why the caller cannot set or lift freezes. */
  reason?: string
}

/** The freezes of an environment. In a project, those of all projects are shown, and only those of the project can be lifted. */
export function Freezes({ projectId, environment, reason }: FreezesProps) {
  const place = { projectId, environment }
  const [adding, setAdding] = useState(false)
  const [lifting, setLifting] = useState<Freeze>()
  const query = useQuery<Schema<'FreezeList'>>(freezesQuery(place))
  const freezes = query.data?.freezes ?? []
  const lift = useChange({
    change: ({ id }: Freeze) => api.send(liftRequest(place, id)),
    invalidates,
    success: 'Freeze lifted',
    showsErrors: true,
  })
  return (
    <>
      <div className={projectId ? 'row-apart project-default' : 'row-apart'}>
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
                  {freeze.offAllowed ? 'Flags can only be switched off, unless others depend on them.' : 'Flags cannot change.'}
                  {freeze.ofService && ' It applies to all projects.'}
                </span>
              </span>
              {(!freeze.ofService || !projectId) && (
                <Button size="small" aria-label={`Lift the freeze: ${freeze.reason}`} disabledReason={reason} onClick={() => setLifting(freeze)}>
                  Lift
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {adding && <FreezeDialog {...place} onClose={() => setAdding(false)} />}
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

/** The freezes of an environment in all projects, as a dialog. */
export default function ServiceFreezesDialog({ environment, reason, onClose }: { environment: string; reason?: string; onClose: () => void }) {
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={`Freezes of ${environment} in all projects`}
      description="Owners of projects cannot lift them. A project can have more, which are set on its tab Environments."
      actions={<Button onClick={onClose}>Close</Button>}
    >
      <Freezes environment={environment} reason={reason} />
    </Dialog>
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

const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].map((value) => ({ value, label: value }))
const zones = Intl.supportedValuesOf('timeZone').map((value) => ({ value }))

const initial = {
  reason: '',
  kind: 'once' as 'once' | 'weekly',
  from: '',
  to: '',
  fromDay: 'Fri',
  fromTime: '17:00',
  toDay: 'Mon',
  toTime: '08:00',
  zone: localZone,
  offAllowed: true,
}

// The server takes a freeze without a beginning as one that begins now, and says what is wrong with others.
function FreezeDialog({ projectId, environment, onClose }: Place & { onClose: () => void }) {
  const requestOf = ({ reason, kind, from, to, fromDay, fromTime, toDay, toTime, zone, offAllowed }: typeof initial) =>
    setRequest(
      { projectId, environment },
      kind === 'weekly'
        ? { reason: reason.trim(), weekly: { from: `${fromDay} ${fromTime}`, to: `${toDay} ${toTime}`, zone: zone.trim() }, offAllowed }
        : { reason: reason.trim(), from: from === '' ? undefined : new Date(from).toISOString(), to: new Date(to).toISOString(), offAllowed },
    )
  const add = useChange({
    change: (request: ReturnType<typeof setRequest>) => api.send(request),
    invalidates,
    success: 'Freeze set',
    showsErrors: true,
    onSuccess: onClose,
  })
  const form = useForm({
    initial,
    submit: (values) => add.mutateAsync(requestOf(values)),
    check: ({ kind, to }) => ({ to: kind === 'once' && to === '' ? 'Choose when it ends.' : '' }),
    pointers: { fromTime: '/weekly/from', toTime: '/weekly/to', zone: '/weekly/zone' },
  })
  return (
    <FormDialog
      form={form}
      submit="Freeze"
      onClose={onClose}
      title={projectId ? `Freeze ${environment}` : `Freeze ${environment} in all projects`}
      description="In a freeze, flags only change here for people who may skip it. Approved change requests wait."
    >
      <TextField label="Reason" required maxLength={255} {...form.field('reason')} hint="People whose changes are refused see it, such as: Holidays." />
      <RadioGroup
        label="How often"
        choices={[
          { value: 'once', label: 'Once' },
          { value: 'weekly', label: 'Each week' },
        ]}
        {...form.field('kind')}
      />
      {form.values.kind === 'once' ? (
        <>
          <TextField label={`From (${localZone})`} type="datetime-local" {...form.field('from')} hint="Leave it empty to begin now." />
          <TextField label={`To (${localZone})`} type="datetime-local" required {...form.field('to')} />
        </>
      ) : (
        <>
          <div className="columns">
            <Select label="From this day" choices={days} {...form.field('fromDay')} />
            <TextField label="From time" type="time" required {...form.field('fromTime')} />
          </div>
          <div className="columns">
            <Select label="To this day" choices={days} {...form.field('toDay')} />
            <TextField label="To time" type="time" required {...form.field('toTime')} />
          </div>
          <SuggestField label="Time zone" required suggestions={zones} {...form.field('zone')} hint="Both times are in this zone, such as Europe/Zurich." />
        </>
      )}
      <Checkbox
        label="Flags can be switched off"
        hint="Unless another flag depends on the flag: it may need it to be off."
        checked={form.values.offAllowed}
        onChange={(offAllowed) => form.set({ offAllowed })}
      />
    </FormDialog>
  )
}
