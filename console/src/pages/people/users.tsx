import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { accountName, api, apiQuery, useChange, useMe, type Schema } from '../../api'
import { Page } from '../../shell'
import { Badge, DateTime, Icons, useConfirm } from '../../ui'
import { Create, List, deleteEntry, editEntry, useEdited } from '../settings/list'
import { useRootRoles } from './account'
import { SecretDialog } from './secretdialog'
import { UserDialog } from './userdialog'

type User = Schema<'User'>

/** The people who can sign in, and their roles in the whole service. */
export default function UsersPage() {
  const me = useMe()
  const roles = useRootRoles()
  const users = useQuery(apiQuery('/api/admin/user-admin'))
  const rows = users.data?.users
  const reason = me.can('ADMIN').reason
  const [link, setLink] = useState<{ user: User; url: string }>()
  const createLink = useChange({
    change: async (user: User) => ({ user, ...(await api.post('/api/admin/user-admin/{userId}/sign-in-link', { path: { userId: user.id } })) }),
    onSuccess: (created) => setLink(created),
  })
  const signOut = useChange({
    change: (user: User) => api.post('/api/admin/user-admin/{userId}/sign-out', { path: { userId: user.id } }),
    success: (_, user) => `${accountName(user)} is signed out everywhere.`,
  })
  const deletion = useChange({
    change: (user: User) => api.delete('/api/admin/user-admin/{userId}', { path: { userId: user.id } }),
    invalidates: ['/api/admin/user-admin', '/api/admin/projects'],
    success: (_, user) => `User ${accountName(user)} deleted`,
    showsErrors: true,
  })
  const [remove, question] = useConfirm((user: User) => ({
    title: `Delete user ${accountName(user)}?`,
    description:
      'The sessions, personal tokens and roles of this person end at once. What the person has changed stays in the audit log. This cannot be undone.',
    action: 'Delete user',
    typeToConfirm: user.email || user.username || accountName(user),
    onConfirm: () => deletion.mutateAsync(user),
  }))
  const [copyLink, linkQuestion] = useConfirm((user: User) => ({
    title: `Create a new sign-in link for ${accountName(user)}?`,
    description: 'Links that this person has not used yet stop working.',
    action: 'Create link',
    danger: false,
    onConfirm: () => createLink.mutateAsync(user),
  }))
  const edited = useEdited(
    rows,
    (user) => user.id,
    (close, user) => <UserDialog user={user} onClose={close} onCreated={(created) => (close(), createLink.mutate(created))} />,
  )
  const create = (
    <Create reason={reason} onClick={edited.create}>
      Invite
    </Create>
  )
  return (
    <Page title="Users" actions={create}>
      <List
        noun="user"
        query={users}
        rows={rows}
        rowKey={(user) => user.id}
        texts={(user) => [user.name, user.username, user.email, roles.nameOf(user.rootRole)]}
        filters={[{ name: 'role', label: 'Role', choices: roles.root.map(({ name }) => ({ value: name, label: name })) }]}
        value={(user, column) => ({ name: accountName(user), email: user.email, role: roles.nameOf(user.rootRole), seen: user.seenAt })[column]}
        nameOf={accountName}
        columns={[
          {
            id: 'name',
            header: 'Name',
            sortable: true,
            cell: (user) => (
              <span className="row">
                <button type="button" className="link-button strong break" onClick={() => edited.edit(user)}>
                  {accountName(user)}
                </button>
                {user.id === me.user?.id && <Badge>You</Badge>}
              </span>
            ),
          },
          { id: 'email', header: 'Email or user name', sortable: true, cell: (user) => <span className="break">{user.email || user.username}</span> },
          { id: 'role', header: 'Role', sortable: true, cell: (user) => roles.nameOf(user.rootRole) },
          { id: 'created', header: 'Created', cell: (user) => <DateTime value={user.createdAt} /> },
          {
            id: 'seen',
            header: 'Last sign-in',
            sortable: true,
            cell: (user) =>
              user.seenAt ? (
                <DateTime value={user.seenAt} />
              ) : (
                <span className="row">
                  <Badge>Invited</Badge>
                  <button type="button" className="link-button" onClick={() => copyLink(user)}>
                    New link…
                  </button>
                </span>
              ),
          },
        ]}
        actions={(user) => [
          editEntry(() => edited.edit(user), reason),
          { label: 'New sign-in link…', icon: <Icons.Key />, onSelect: () => copyLink(user), disabledReason: reason },
          { label: 'Sign out everywhere', icon: <Icons.Out />, onSelect: () => signOut.mutate(user), disabledReason: reason },
          'separator',
          deleteEntry(() => remove(user), user.id === me.user?.id ? 'You cannot delete yourself here.' : reason),
        ]}
        icon={<Icons.Users />}
        empty="Invite people, and send each their sign-in link."
      />
      {edited.dialog}
      {question}
      {linkQuestion}
      {link && (
        <SecretDialog title={`Sign-in link for ${accountName(link.user)}`} label="Sign-in link" secret={link.url} onClose={() => setLink(undefined)}>
          Send it to this person only. It signs in once, within {link.user.seenAt ? '15 minutes' : '7 days'}. Earlier links no longer work.
        </SecretDialog>
      )}
    </Page>
  )
}
