import { Link } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'
import { apiQuery, useMe, type Schema } from '../../api'
import { Page } from '../../shell'
import { Badge, EmptyState, ErrorState, Icons, LinkButton, Section, Table, type Column } from '../../ui'
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
  { id: 'description', header: 'Description', cell: (role) => <span className="break">{role.description}</span> },
]

/** The roles of the whole service and those in projects. */
export default function RolesPage() {
  const me = useMe()
  const roles = useQuery(apiQuery('/api/admin/roles'))
  const all = roles.data?.roles ?? []
  const button = me.can('ADMIN').allowed ? (
    <LinkButton variant="primary" icon={<Icons.Plus />} to="/roles/$id" params={{ id: 'new' }}>
      Create role
    </LinkButton>
  ) : undefined
  return (
    <Page title="Roles" description="Each user has one role in the whole service, and can have more in projects." actions={button}>
      {roles.error ? (
        <ErrorState error={roles.error} onRetry={() => void roles.refetch()} />
      ) : (
        <>
          <RoleSection title="Roles in the whole service" roles={all.filter((role) => !isProjectRole(role.type))} loading={roles.isPending} />
          <RoleSection title="Roles in projects" roles={all.filter((role) => isProjectRole(role.type))} loading={roles.isPending} />
        </>
      )}
    </Page>
  )
}

function RoleSection({ title, roles, loading }: { title: string; roles: readonly Role[]; loading: boolean }) {
  return (
    <Section title={title}>
      <Table
        label={title}
        columns={columns}
        rows={roles}
        rowKey={(role) => role.id}
        loading={loading}
        empty={<EmptyState icon={<Icons.Shield />} title="No roles" />}
      />
    </Section>
  )
}
