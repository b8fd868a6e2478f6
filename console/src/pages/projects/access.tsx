import { useQueries, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { accountName, apiQuery, useMe, type Schema } from '../../api'
import { plural, ActionMenu, Badge, Button, ConfirmDialog, EmptyState, Icons, Loaded, SearchField, Select, Table, type Column, type MenuEntry } from '../../ui'
import { AddMemberDialog } from './addmember'
import { describeRoles, findMembers, type Account } from './members'
import { RolesDialog } from './rolesdialog'
import { useRemoveMember, useSetRoles } from './memberchanges'

type Member = Schema<'Member'>
type Role = Schema<'Role'>

/** A member, or an account that can change the project by its role in the whole service. */
type Row = Member | (Account & { accountType?: string; byRole: string })

const maxShown = 200

/** The members of a project and their roles. */
export default function AccessTab() {
  const { projectId } = useParams({ from: '/projects/$projectId' })
  const access = useQuery(apiQuery('/api/admin/projects/{projectId}/access', { path: { projectId } }))
  return <Loaded query={access}>{(data) => <Members projectId={projectId} members={data.users} roles={data.roles} />}</Loaded>
}

/** What a member is asked before it changes its own access. */
interface Warning {
  title: string
  action: string
  proceed: () => Promise<unknown>
}

function Members({ projectId, members, roles }: { projectId: string; members: Member[]; roles: Role[] }) {
  const { can, user, isAdmin } = useMe()
  const byRole = useByRole(projectId)
  const [text, setText] = useState('')
  const [adding, setAdding] = useState(false)
  const [editing, setEditing] = useState<Member>()
  const [warning, setWarning] = useState<Warning>()
  const setRoles = useSetRoles(projectId, roles)
  const remove = useRemoveMember(projectId)
  const reason = can('PROJECT_USER_ACCESS_WRITE', projectId).reason
  const losesAccess = (member: Member) => member.id === user?.id && !can('ADMIN').allowed
  const change = (member: Member, next: number[]) => {
    const proceed = () => setRoles.mutateAsync({ member, next })
    if (losesAccess(member)) setWarning({ title: 'Change your own role?', action: 'Change my role', proceed })
    else setRoles.mutate({ member, next })
  }
  const leave = (member: Member) => {
    if (losesAccess(member)) setWarning({ title: 'Leave the project?', action: 'Leave the project', proceed: () => remove.mutateAsync(member) })
    else remove.mutate(member)
  }
  const entries = (member: Member): MenuEntry[] => [
    { label: 'Choose several roles', icon: <Icons.Shield />, onSelect: () => setEditing(member), disabledReason: reason },
    { label: 'Remove from the project', icon: <Icons.Trash />, danger: true, onSelect: () => leave(member), disabledReason: reason },
  ]
  const columns: Column<Row>[] = [
    { id: 'name', header: 'Name', cell: (row) => <Name member={row} isMe={row.id === user?.id} /> },
    {
      id: 'role',
      header: 'Role',
      width: '200px',
      cell: (member) =>
        'byRole' in member ? (
          <span className="soft">By their role {member.byRole}</span>
        ) : member.roles.length > 1 ? (
          <span className="break">{describeRoles(member.roles, roles)}</span>
        ) : (
          <RoleSelect member={member} roles={roles} onChange={(role) => change(member, [role])} reason={reason} />
        ),
    },
    {
      id: 'actions',
      header: 'Actions',
      hideHeader: true,
      align: 'right',
      width: '56px',
      cell: (member) => !('byRole' in member) && <ActionMenu label={`Actions for ${accountName(member)}`} entries={entries(member)} />,
    },
  ]
  const others = byRole.filter(({ id }) => !members.some((member) => member.id === id))
  const found: Row[] = [...findMembers(members, text), ...findMembers(others, text)]
  const add = (
    <Button variant="primary" icon={<Icons.Plus />} disabledReason={reason} onClick={() => setAdding(true)}>
      Add member
    </Button>
  )
  return (
    <>
      <div className="row-apart">
        <SearchField label="Search members" value={text} onChange={setText} maxLength={100} />
        {add}
      </div>
      <p className="soft">
        {plural(members.length, 'project member')} can change this project,{' '}
        {isAdmin ? `and ${plural(others.length, 'other')} by their role in the service` : 'and administrators'}. Everyone who can sign in can read it.
      </p>
      <Table
        label="Members"
        cards
        columns={columns}
        rows={found.slice(0, maxShown)}
        rowKey={({ id }) => id}
        empty={
          text.trim() ? (
            <EmptyState icon={<Icons.Search />} title="No member matches">
              No name, user name or email address contains “{text.trim()}”.
            </EmptyState>
          ) : (
            <EmptyState icon={<Icons.Users />} title="No members yet">
              An Owner can change the project and its members, a Member can change its flags.
            </EmptyState>
          )
        }
      />
      {found.length > maxShown && <p className="soft small">Only the first {maxShown} are shown. Search to find the others.</p>}
      <AddMemberDialog projectId={projectId} open={adding} onClose={() => setAdding(false)} members={members} roles={roles} />
      {editing && <RolesDialog member={editing} roles={roles} onClose={() => setEditing(undefined)} onSave={(next) => change(editing, next)} />}
      <ConfirmDialog
        open={warning !== undefined}
        onClose={() => setWarning(undefined)}
        title={warning?.title ?? ''}
        description="You may then no longer be able to change this project, and cannot undo this yourself. Another owner or an administrator can."
        action={warning?.action ?? ''}
        onConfirm={() => warning?.proceed() ?? Promise.resolve()}
      />
    </>
  )
}

// The accounts whose role in the whole service lets them change the project: only administrators can read who has it.
function useByRole(projectId: string) {
  const { isAdmin: enabled } = useMe()
  const users = useQuery({ ...apiQuery('/api/admin/user-admin'), enabled })
  const services = useQuery({ ...apiQuery('/api/admin/service-account'), enabled })
  const permissions = useQuery({ ...apiQuery('/api/admin/permissions'), enabled })
  const root = users.data?.rootRoles ?? []
  const roles = useQueries({ queries: root.map(({ id }) => ({ ...apiQuery('/api/admin/roles/{roleId}', { path: { roleId: id } }), enabled })) })
  const service = new Set(permissions.data?.permissions.root.map(({ name }) => name).filter((name) => name !== 'ADMIN'))
  const changes = new Map(
    roles.flatMap(({ data }) =>
      data && service.size > 0 && (data.permissions.some(({ name }) => !service.has(name)) || (data.id === editor && projectId === 'default'))
        ? [[data.id, data.name]]
        : [],
    ),
  )
  return [...(users.data?.users ?? []), ...(services.data?.serviceAccounts ?? [])].flatMap((account) => {
    const byRole = changes.get(account.rootRole)
    return byRole ? [{ ...account, byRole }] : []
  })
}

// Editors own the default project.
const editor = 2

// A select shows a reason below it, which would repeat in each row: without the permission the role is a text.
function RoleSelect({ member, roles, onChange, reason }: { member: Member; roles: Role[]; onChange: (role: number) => void; reason?: string }) {
  if (reason) return <span title={reason}>{describeRoles(member.roles, roles)}</span>
  return (
    <div className="project-role">
      <Select
        label={`Role of ${accountName(member)}`}
        hideLabel
        choices={roles.map((role) => ({ value: String(role.id), label: role.name }))}
        value={String(member.roles[0] ?? member.roleId)}
        onChange={(role) => onChange(Number(role))}
      />
    </div>
  )
}

function Name({ member, isMe }: { member: Account & { accountType?: string }; isMe: boolean }) {
  const name = accountName(member)
  const details = [member.username, member.email].filter((text) => text && text !== name).join(' · ')
  return (
    <span className="project-member">
      <span className="row">
        <span className="strong break">{name}</span>
        {isMe && <Badge kind="accent">You</Badge>}
        {member.accountType === 'Service Account' && <Badge>Service account</Badge>}
      </span>
      {details && <span className="soft small break">{details}</span>}
    </span>
  )
}
