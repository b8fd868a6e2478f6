import { api, useChange, type Schema } from '../../api'
import { FormActions, useForm } from '../../forms'
import { Dialog, Select, TextField } from '../../ui'
import { useRootRoles } from './account'

const viewer = '3'

interface UserDialogProps {
  user?: Schema<'User'>
  onClose: () => void
  onCreated?: (user: Schema<'CreatedUser'>) => void
}

/** Creates a user, or changes one. */
export function UserDialog({ user, onClose, onCreated }: UserDialogProps) {
  const roles = useRootRoles()
  const save = useChange({
    change: async (values: { name: string; email: string; username: string; rootRole: string }) => {
      const body = { name: values.name.trim(), email: values.email.trim(), rootRole: Number(values.rootRole) }
      if (user) {
        await api.put('/api/admin/user-admin/{userId}', { path: { userId: user.id }, body })
        return undefined
      }
      return await api.post('/api/admin/user-admin', { body: { ...body, username: values.username.trim() } })
    },
    invalidates: ['/api/admin/user-admin', '/api/admin/user', '/api/admin/projects'],
    success: user ? 'User saved' : undefined,
    onSuccess: (created) => (created ? onCreated?.(created) : onClose()),
    showsErrors: true,
  })
  const form = useForm({
    initial: { name: user?.name ?? '', email: user?.email ?? '', username: user?.username ?? '', rootRole: String(user?.rootRole ?? viewer) },
    submit: (values) => save.mutateAsync(values),
    check: (values) => (user || values.email.trim() || values.username.trim() ? {} : { email: 'A user needs an email address or a user name.' }),
  })
  return (
    <Dialog open onClose={onClose} title={user ? 'Edit user' : 'Create user'}>
      <form {...form.props}>
        <TextField label="Name" maxLength={100} {...form.field('name')} />
        <TextField
          label="Email address"
          type="email"
          maxLength={254}
          hint="People who sign in with your identity provider are recognized by it."
          {...form.field('email')}
        />
        {!user && <TextField label="User name" maxLength={100} hint="Needed only without an email address." {...form.field('username')} />}
        <Select
          label="Role in the whole service"
          choices={roles.choices}
          hint={roles.descriptionOf(Number(form.values.rootRole)) || undefined}
          {...form.field('rootRole')}
        />
        <FormActions form={form} submit={user ? 'Save' : 'Create user'} onCancel={onClose} />
      </form>
    </Dialog>
  )
}
