import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { accountName, api, apiQuery, useChange, useMe, type Schema } from '../../api'
import { Page, useUrlState } from '../../shell'
import {
  ActionMenu,
  Badge,
  Button,
  ConfirmDialog,
  DateTime,
  EmptyState,
  ErrorState,
  Icons,
  Pagination,
  Table,
  zonedDate,
  sortRows,
  toast,
  type Column,
} from '../../ui'
import { FilterBar } from '../../ui/filters'
import { pageOf, pageSize, search } from '../settings/paged'
import { useRootRoles } from './account'
import { SecretDialog } from './secretdialog'
import { UserDialog } from './userdialog'

type User = Schema<'User'>

const affected = ['/api/admin/user-admin', '/api/admin/projects']

/** The people who can sign in, and their roles in the whole service. */
export default function UsersPage() {
  const me = useMe()
  const roles = useRootRoles()
  const users = useQuery(apiQuery('/api/admin/user-admin'))
  const [view, setView] = useUrlState({ q: '', offset: 0, create: false, edit: 0, sort: 'name', descending: false })
  const [removed, setRemoved] = useState<User>()
  const [link, setLink] = useState<{ user: User; url: string; expiresAt: string }>()

  const createLink = useChange({
    change: async (user: User) => ({ user, ...(await api.post('/api/admin/user-admin/{userId}/sign-in-link', { path: { userId: user.id } })) }),
    onSuccess: (created) => setLink(created),
  })
  const signOut = useChange({
    change: (user: User) => api.post('/api/admin/user-admin/{userId}/sign-out', { path: { userId: user.id } }),
    success: (_, user) => `${accountName(user)} is signed out everywhere.`,
  })
  const remove = async (user: User) => {
    await deletion.mutateAsync(user)
    toast.success(`User ${accountName(user)} deleted`)
  }
  const deletion = useChange({
    change: (user: User) => api.delete('/api/admin/user-admin/{userId}', { path: { userId: user.id } }),
    invalidates: affected,
    showsErrors: true,
  })

  const reason = me.can('ADMIN').reason
  const all = users.data?.users ?? []
  const sort = { by: view.sort, descending: view.descending }
  const found = sortRows(
    search(all, view.q, (user) => [user.name, user.username, user.email, roles.nameOf(user.rootRole)]),
    sort,
    (user, column) =>
      column === 'role' ? roles.nameOf(user.rootRole) : column === 'seen' ? (user.seenAt ?? '') : column === 'email' ? user.email : accountName(user),
  )
  const shown = pageOf(found, view.offset)
  const edited = all.find((user) => user.id === view.edit)

  const columns: Column<User>[] = [
    {
      id: 'name',
      header: 'Name',
      sortable: true,
      cell: (user) => (
        <span className="row">
          <span className="strong break">{accountName(user)}</span>
          {user.id === me.user?.id && <Badge>You</Badge>}
        </span>
      ),
    },
    { id: 'email', header: 'Email or user name', sortable: true, cell: (user) => <span className="break">{user.email || user.username}</span> },
    {
      id: 'role',
      header: 'Role',
      sortable: true,
      cell: (user) => roles.nameOf(user.rootRole),
    },
    { id: 'created', header: 'Created', cell: (user) => <DateTime value={user.createdAt} /> },
    {
      id: 'seen',
      header: 'Last sign-in',
      sortable: true,
      cell: (user) => (user.seenAt ? <DateTime value={user.seenAt} /> : <span className="soft">Never</span>),
    },
    {
      id: 'actions',
      header: 'Actions',
      hideHeader: true,
      align: 'right',
      width: '48px',
      cell: (user) => (
        <ActionMenu
          label={`Actions for ${accountName(user)}`}
          entries={[
            { label: 'Edit', icon: <Icons.Edit />, onSelect: () => setView({ edit: user.id }, { push: true }), disabledReason: reason },
            { label: 'Create sign-in link', icon: <Icons.Key />, onSelect: () => createLink.mutate(user), disabledReason: reason },
            { label: 'Sign out everywhere', icon: <Icons.Out />, onSelect: () => signOut.mutate(user), disabledReason: reason },
            'separator',
            {
              label: 'Delete',
              icon: <Icons.Trash />,
              danger: true,
              onSelect: () => setRemoved(user),
              disabledReason: user.id === me.user?.id ? 'You cannot delete yourself here.' : reason,
            },
          ]}
        />
      ),
    },
  ]
  return (
    <Page
      title="Users"
      actions={
        <Button variant="primary" icon={<Icons.Plus />} disabledReason={reason} onClick={() => setView({ create: true }, { push: true })}>
          Invite
        </Button>
      }
    >
      {users.error ? (
        <ErrorState error={users.error} onRetry={() => void users.refetch()} />
      ) : (
        <div className="stack">
          <FilterBar
            noun="user"
            search="Search users"
            filters={[]}
            values={{ q: view.q }}
            onChange={({ q }: { q?: string }) => setView({ q, offset: 0 })}
            shown={found.length}
            total={all.length}
          />
          <Table
            label="Users"
            cards
            columns={columns}
            rows={shown.rows}
            rowKey={(user) => user.id}
            sort={sort}
            onSort={(next) => setView({ sort: next.by, descending: next.descending, offset: 0 })}
            loading={users.isPending}
            empty={
              view.q ? (
                <EmptyState icon={<Icons.Users />} title="No user matches" action={<Button onClick={() => setView({ q: '' })}>Show all users</Button>} />
              ) : (
                <EmptyState icon={<Icons.Users />} title="No users yet">
                  Invite people, and send each their sign-in link.
                </EmptyState>
              )
            }
          />
          {found.length > pageSize && (
            <Pagination offset={shown.offset} limit={pageSize} total={found.length} noun="users" onChange={(offset) => setView({ offset })} />
          )}
        </div>
      )}
      {view.create && (
        <UserDialog
          onClose={() => setView({ create: false })}
          onCreated={(user) => {
            setView({ create: false })
            createLink.mutate(user)
          }}
        />
      )}
      {edited && !view.create && <UserDialog key={edited.id} user={edited} onClose={() => setView({ edit: 0 })} />}
      {removed && (
        <ConfirmDialog
          open
          onClose={() => setRemoved(undefined)}
          title={`Delete user ${accountName(removed)}?`}
          description="The sessions, personal tokens and roles of this person end at once. What the person has changed stays in the audit log. This cannot be undone."
          action="Delete user"
          typeToConfirm={removed.email || removed.username || accountName(removed)}
          onConfirm={() => remove(removed)}
        />
      )}
      {link && (
        <SecretDialog title={`Sign-in link for ${accountName(link.user)}`} label="Sign-in link" secret={link.url} once onClose={() => setLink(undefined)}>
          Send it to this person only. It signs in once, until {zonedDate(new Date(link.expiresAt))}. With an identity provider, the person needs no link.
        </SecretDialog>
      )}
    </Page>
  )
}
