import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { actorOf, api, apiQuery, useChange, useMe } from '../../api'
import { FormDialog, useForm } from '../../forms'
import { Badge, DateTime, IconButton, Icons, Info } from '../../ui'
import { SuggestField } from '../../ui/suggest'
import { Archivable } from './archivable'
import { flagKey, flagPath, touched, useProject, useReasons, type Flag } from './data'
import { Dependencies } from './dependencies'
import { lifecycleText } from './lifecycle'
import { FlagLinks } from './links'
import { Part } from './part'
import { FlagTags } from './tags'
import { DailyUse } from './use'

/** What is known of a flag beside its environments. */
export function FlagRail({ flag }: { flag: Flag }) {
  const stage = lifecycleText(flag.lifecycle, flag.environments)
  return (
    <>
      <Owner flag={flag} />
      <FlagTags flag={flag} />
      <FlagLinks flag={flag} />
      <Part title="Lifecycle">
        <p className="row">
          <Badge kind={stage.kind}>{stage.label}</Badge>
          <span className="soft">
            since <DateTime value={flag.lifecycle.enteredStageAt} />
          </span>
          <Info>{stage.hint}</Info>
        </p>
      </Part>
      <DailyUse flag={flag} />
      <Dependencies flag={flag} />
      <Archivable flag={flag} />
      <Created flag={flag} />
    </>
  )
}

/** Who owns the flag, else who owns its project. */
function Owner({ flag }: { flag: Flag }) {
  const [editing, setEditing] = useState(false)
  const { user } = useMe()
  const reason = useReasons(flag)('UPDATE_FEATURE')
  const owners = (useProject(flag.project)?.owners ?? []).flatMap((one) => (one.ownerType === 'user' ? (one.name ?? one.email ?? []) : []))
  const mine = flag.owner && [user?.email, user?.username, user?.name].includes(flag.owner)
  return (
    <Part
      title="Owner"
      action={
        <IconButton
          size="small"
          label={flag.owner ? 'Change the owner' : 'Add an owner'}
          icon={flag.owner ? <Icons.Edit /> : <Icons.Plus />}
          disabledReason={reason}
          onClick={() => setEditing(true)}
        />
      }
    >
      {flag.owner ? (
        <p className="break">
          {flag.owner.includes('@') ? <a href={`mailto:${flag.owner}`}>{flag.owner}</a> : flag.owner}
          {mine && <span className="soft"> (you)</span>}
        </p>
      ) : (
        owners.length > 0 && <p className="soft break">{owners.join(', ')}, by the project</p>
      )}
      {editing && <OwnerDialog flag={flag} onClose={() => setEditing(false)} />}
    </Part>
  )
}

interface Owned {
  owner: string | null
  before: string | null
}

function OwnerDialog({ flag, onClose }: { flag: Flag; onClose: () => void }) {
  const { user } = useMe()
  const owners = useProject(flag.project)?.owners ?? []
  const people = [
    { email: user?.email, username: user?.username, name: 'you' },
    ...owners.map(({ email, name }) => ({ email, username: null, name: name ?? undefined })),
  ]
  const suggestions = people.flatMap(({ email, username, name }) => {
    const value = email || username
    return value ? [{ value, note: name }] : []
  })
  const send = (owner: string | null) =>
    api.patch(flagPath, { path: { projectId: flag.project, featureName: flag.name }, body: [{ op: 'replace', path: '/owner', value: owner }] })
  const save = useChange({
    change: ({ owner }: Owned) => send(owner),
    invalidates: touched,
    optimistic: ({ owner }) => [{ key: flagKey(flag), update: (old?: Flag) => old && { ...old, owner: owner ?? undefined } }],
    success: (_, { owner }) => (owner ? `${flag.name}: the owner is ${owner}` : `${flag.name}: no owner`),
    undo: ({ before }) => send(before),
    showsErrors: true,
    onSuccess: onClose,
  })
  const form = useForm({
    initial: { owner: flag.owner ?? '' },
    submit: ({ owner }) => save.mutateAsync({ owner: owner.trim() || null, before: flag.owner ?? null }),
  })
  return (
    <FormDialog form={form} submit="Save owner" onClose={onClose} title={`Owner of ${flag.name}`}>
      <SuggestField
        label="Owner"
        maxLength={255}
        placeholder="Team Checkout"
        suggestions={suggestions.filter((one, index) => suggestions.findIndex(({ value }) => value === one.value) === index)}
        {...form.field('owner')}
        hint="A person or a team."
      />
    </FormDialog>
  )
}

function Created({ flag }: { flag: Flag }) {
  const events = useQuery({
    ...apiQuery('/api/admin/events/{featureName}', { path: { featureName: flag.name }, query: { type: 'IS:feature-created', limit: '1' } }),
    staleTime: Infinity,
  })
  const created = events.data?.events[0]
  return (
    <Part title="Created">
      <p className="break">
        <DateTime value={flag.createdAt} />
        {created && ` by ${actorOf(created)}`}
      </p>
    </Part>
  )
}
