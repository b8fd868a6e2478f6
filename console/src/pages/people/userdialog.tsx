import { Link } from '@tanstack/react-router'
import { accountName, api, type Schema } from '../../api'
import { FormDialog, useChangeForm } from '../../forms'
import { TextField } from '../../ui'
import { RootRoleField } from './account'

const viewer = '3'

interface UserDialogProps {
  user?: Schema<'User'>
  onClose: () => void
  onCreated?: (user: Schema<'CreatedUser'>) => void
}

interface Values {
  name: string
  email: string
  username: string
  rootRole: string
}

/** Creates a user, or changes one. */
export function UserDialog({ user, onClose, onCreated }: UserDialogProps) {
  const form = useChangeForm<Values, Schema<'CreatedUser'> | undefined>({
    initial: { name: user?.name ?? '', email: user?.email ?? '', username: user?.username ?? '', rootRole: String(user?.rootRole ?? viewer) },
    check: ({ email, username }) => (user || email.trim() || username.trim() ? {} : { email: 'A user needs an email address or a user name.' }),
    change: async ({ name, email, username, rootRole }) => {
      const body = { name: name.trim(), email: email.trim(), rootRole: Number(rootRole) }
      if (!user) return api.post('/api/admin/user-admin', { body: { ...body, username: username.trim() } })
      await api.put('/api/admin/user-admin/{userId}', { path: { userId: user.id }, body })
    },
    invalidates: ['/api/admin/user-admin', '/api/admin/user', '/api/admin/projects'],
    success: user ? 'User saved' : undefined,
    onSuccess: (created) => (created ? onCreated?.(created) : onClose()),
  })
  return (
    <FormDialog form={form} title={user ? accountName(user) : 'Invite a person'} submit={user ? 'Save' : 'Invite'} onClose={onClose}>
      <TextField label="Email address" type="email" maxLength={254} hint="Your identity provider must know the person by it." {...form.field('email')} />
      <TextField label="Name" maxLength={100} {...form.field('name')} />
      {!user && <TextField label="User name" maxLength={100} hint="Needed only without an email address." {...form.field('username')} />}
      <RootRoleField {...form.field('rootRole')} />
      {user && (
        <p>
          <Link to="/audit" search={{ by: accountName(user) }}>
            Changes by {accountName(user)}
          </Link>
        </p>
      )}
    </FormDialog>
  )
}
