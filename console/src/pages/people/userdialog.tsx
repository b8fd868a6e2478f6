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

interface Values {
  name: string
  email: string
  username: string
  rootRole: string
}

/** Creates a user, or changes one. */
export function UserDialog({ user, onClose, onCreated }: UserDialogProps) {
  const roles = useRootRoles()
  const bodyOf = (values: Values) => ({ name: values.name.trim(), email: values.email.trim(), rootRole: Number(values.rootRole) })
  const creation = (values: Values) => api.request.post('/api/admin/user-admin', { body: { ...bodyOf(values), username: values.username.trim() } })
  const update = (values: Values, userId: number) => api.request.put('/api/admin/user-admin/{userId}', { path: { userId }, body: bodyOf(values) })
  const save = useChange({
    change: async (values: Values) => (user ? void (await api.send(update(values, user.id))) : await api.send(creation(values))),
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
    <Dialog open onClose={onClose} title={user ? 'Edit user' : 'Invite a person'}>
      <form {...form.props}>
        <TextField label="Email address" type="email" maxLength={254} hint="Your identity provider must know the person by it." {...form.field('email')} />
        <TextField label="Name" maxLength={100} {...form.field('name')} />
        {!user && <TextField label="User name" maxLength={100} hint="Needed only without an email address." {...form.field('username')} />}
        <Select
          label="Role in the whole service"
          choices={roles.choices}
          hint={roles.descriptionOf(Number(form.values.rootRole)) || undefined}
          {...form.field('rootRole')}
        />
        <FormActions form={form} submit={user ? 'Save' : 'Invite'} onCancel={onClose} />
      </form>
    </Dialog>
  )
}
