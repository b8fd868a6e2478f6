import { Link } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'
import { apiQuery, useMe, type Schema } from '../../api'
import { Page } from '../../shell'
import { Badge, Icons, LinkButton, type Column } from '../../ui'
import { List } from '../settings/list'
import { isBuiltIn, isProjectRole } from './grants'

type Role = Schema<'Role'>

const columns: Column<Role>[] = [
  {
    id: 'name',
    header: 'Name',
    width: '240px',
    cell: (role) => (
      <span className="row">
        <Link to="/roles/$id" params={{ id: String(role.id) }} className="strong break">
          {role.name}
        </Link>
        {isBuiltIn(role.type) && <Badge>Built in</Badge>}
      </span>
    ),
  },
  { id: 'where', header: 'Held in', width: '160px', cell: ({ type }) => (isProjectRole(type) ? 'A project' : 'The whole service') },
  { id: 'description', header: 'Description', cell: (role) => <span className="break">{role.description}</span> },
]

/** The roles of the whole service and those in projects. */
export default function RolesPage() {
  const me = useMe()
  const roles = useQuery(apiQuery('/api/admin/roles'))
  const create = me.can('ADMIN').allowed && (
    <LinkButton variant="primary" icon={<Icons.Plus />} to="/roles/$id" params={{ id: 'new' }}>
      Create role
    </LinkButton>
  )
  // Those of the whole service first.
  const rows = roles.data && [...roles.data.roles].sort((a, b) => Number(isProjectRole(a.type)) - Number(isProjectRole(b.type)))
  return (
    <Page title="Roles" description="Each user has one role in the whole service, and can have more in projects." actions={create}>
      <List noun="role" query={roles} rows={rows} rowKey={(role) => role.id} columns={columns} />
    </Page>
  )
}
