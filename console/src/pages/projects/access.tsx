import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { accountName, apiQuery, useMe, type Schema } from '../../api'
import { ActionMenu, Badge, Button, ConfirmDialog, EmptyState, Icons, Loaded, Notice, SearchField, Select, Table, type Column, type MenuEntry } from '../../ui'
import { AddMemberDialog } from './addmember'
import { describeRoles, findMembers } from './members'
import { RolesDialog } from './rolesdialog'
import { useRemoveMember, useSetRoles } from './memberchanges'

type Member = Schema<'Member'>
type Role = Schema<'Role'>

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
  const { can, user } = useMe()
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
  const columns: Column<Member>[] = [
    { id: 'name', header: 'Name', cell: (member) => <Name member={member} isMe={member.id === user?.id} /> },
    {
      id: 'role',
      header: 'Role',
      width: '200px',
      cell: (member) =>
        member.roles.length > 1 ? (
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
      cell: (member) => <ActionMenu label={`Actions for ${accountName(member)}`} entries={entries(member)} />,
    },
  ]
  const found = findMembers(members, text)
  const add = (
    <Button variant="primary" icon={<Icons.Plus />} disabledReason={reason} onClick={() => setAdding(true)}>
      Add member
    </Button>
  )
  return (
    <>
      <Notice>
        <p>
          Everyone who can sign in can read this project. Its members can also change it, as their role allows. Administrators can change every project, even
          without a role in it.
        </p>
      </Notice>
      {members.length === 0 ? (
        <EmptyState icon={<Icons.Users />} title="No members yet" action={add}>
          Give the people who work on these flags a role. An Owner can change the project and its members, a Member can change its flags.
        </EmptyState>
      ) : (
        <>
          <div className="row-apart">
            <SearchField label="Search members" value={text} onChange={setText} maxLength={100} />
            {add}
          </div>
          <Table
            label="Members"
            columns={columns}
            rows={found.slice(0, maxShown)}
            rowKey={({ id }) => id}
            empty={
              <EmptyState icon={<Icons.Search />} title="No member matches">
                No name, user name or email address contains “{text.trim()}”.
              </EmptyState>
            }
          />
          {found.length > maxShown && <p className="soft small">Only the first {maxShown} members are shown. Search to find the others.</p>}
        </>
      )}
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

function Name({ member, isMe }: { member: Member; isMe: boolean }) {
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
