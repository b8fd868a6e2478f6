import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { accountName, api, apiQuery, useChange, useMe, type Schema } from '../../api'
import { FormActions, useForm } from '../../forms'
import { Dialog, NumberField, Select, type Choice } from '../../ui'
import { Combobox } from '../../ui/combobox'
import { describeRoles, findMembers, type Account } from './members'

type Role = Schema<'Role'>

const minSearch = 2
const maxFound = 30

interface Props {
  projectId: string
  members: Schema<'Member'>[]
  roles: Role[]
  onClose: () => void
}

/** Gives a person or a service account a role in the project. */
export function AddMemberDialog({ open, ...props }: Props & { open: boolean }) {
  return (
    <Dialog open={open} onClose={props.onClose} title="Add member">
      {open && <AddMemberForm {...props} />}
    </Dialog>
  )
}

function AddMemberForm({ projectId, members, roles, onClose }: Props) {
  const { can } = useMe()
  const requestOf = (userId: number, roleId: number) =>
    api.request.post('/api/admin/projects/{projectId}/users/{userId}/roles/{roleId}', { path: { projectId, userId, roleId } })
  const add = useChange({
    change: ({ userId, roleId }: { userId: number; roleId: number; name: string }) => api.send(requestOf(userId, roleId)),
    invalidates: ['/api/admin/projects', '/api/admin/user'],
    success: (_, { roleId, name }) => `${name} is now ${describeRoles([roleId], roles)}.`,
    showsErrors: true,
    onSuccess: onClose,
  })
  const usual = roles.find((role) => role.name === 'Member') ?? roles[0]
  const form = useForm({
    initial: { user: '', name: '', role: String(usual?.id ?? '') },
    check: ({ user }) => ({ user: user ? undefined : 'Choose who becomes a member.' }),
    submit: ({ user, name, role }) => add.mutateAsync({ userId: Number(user), roleId: Number(role), name: name || `User ${user}` }),
  })
  const chosen = roles.find((role) => String(role.id) === form.values.role)
  return (
    <form {...form.props}>
      {can('ADMIN').allowed ? (
        <FindAccount members={members} value={form.values.user} onChange={(user, name) => form.set({ user, name })} error={form.errorAt('/user')} />
      ) : (
        <EnterId value={form.values.user} onChange={(user) => form.set({ user })} error={form.errorAt('/user')} />
      )}
      <Select label="Role" choices={roles.map((role) => ({ value: String(role.id), label: role.name }))} hint={chosen?.description} {...form.field('role')} />
      <FormActions form={form} submit="Add member" onCancel={onClose} />
    </form>
  )
}

interface AccountFieldProps {
  value: string
  onChange: (id: string, name: string) => void
  error?: string
}

/** Finds people and service accounts by the beginning of their names. */
function FindAccount({ members, value, onChange, error }: AccountFieldProps & { members: Account[] }) {
  const [text, setText] = useState('')
  const [found, setFound] = useState<Choice>()
  const q = text.trim()
  const long = q.length >= minSearch
  const people = useQuery({ ...apiQuery('/api/admin/user-admin/search', { query: { q } }), enabled: long, placeholderData: keepPreviousData })
  const services = useQuery(apiQuery('/api/admin/service-account'))
  const accounts: Account[] = long ? [...(people.data ?? []), ...findMembers(services.data?.serviceAccounts ?? [], q)] : []
  const choices = accounts.slice(0, maxFound).map((account) => choiceOf(account, members))
  // The chosen account stays a choice when the search finds others.
  const withChosen = found && !choices.some((choice) => choice.value === found.value) ? [found, ...choices] : choices
  const choose = (id: string) => {
    setFound(choices.find((choice) => choice.value === id) ?? found)
    onChange(id, accountName(accounts.find((account) => String(account.id) === id) ?? { id: Number(id) }))
  }
  return (
    <Combobox
      label="Person or service account"
      required
      placeholder="Name, user name or email address"
      hint="Administrators create users on the Users page."
      choices={withChosen}
      onSearch={setText}
      emptyText={long ? 'No one has this name.' : 'Type the first two characters of the name.'}
      value={value}
      onChange={choose}
      error={error}
    />
  )
}

function choiceOf(account: Account, members: readonly Account[]): Choice {
  const name = accountName(account)
  const known = members.some((member) => member.id === account.id)
  const more = [account.username, account.email].find((text) => text && text !== name)
  return { value: String(account.id), label: `${name}${more ? ` (${more})` : ''}${known ? ' – already a member' : ''}`, disabled: known }
}

function EnterId({ value, onChange, error }: Omit<AccountFieldProps, 'onChange'> & { onChange: (id: string) => void }) {
  return (
    <NumberField
      label="Id of the user"
      required
      min={1}
      hint="Only administrators can search users. Ask an administrator for the id, which the Users page shows."
      value={value === '' ? null : Number(value)}
      onChange={(id) => onChange(id === null || Number.isNaN(id) ? '' : String(id))}
      error={error}
    />
  )
}
