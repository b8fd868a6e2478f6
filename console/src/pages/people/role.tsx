import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { api, apiQuery, useChange, useMe, type Schema } from '../../api'
import { FormActions, useChangeForm } from '../../forms'
import { Page, type Crumb } from '../../shell'
import { Badge, Button, EmptyState, Icons, Loaded, RadioGroup, Section, TextArea, TextField, plural, toast, useConfirm } from '../../ui'
import { grantsFor, grantsOf, isBuiltIn, isProjectRole, permissionsOf, type Grant } from './grants'
import { PermissionTables } from './permissiontables'

const crumbs: Crumb[] = [{ label: 'Roles', link: { to: '/roles' } }]
const affected = ['/api/admin/roles', '/api/admin/user', '/api/admin/projects']

/** A role with its permissions, or the form for a new one (/roles/new). */
export default function RolePage() {
  const { id } = useParams({ from: '/roles/$id' })
  if (/^[0-9]{1,9}$/.test(id)) return <ExistingRole id={Number(id)} />
  return (
    <Page title={id === 'new' ? 'Create role' : 'Role'} crumbs={crumbs}>
      {id === 'new' ? <RoleForm key="new" /> : <EmptyState icon={<Icons.Shield />} title="There is no such role" />}
    </Page>
  )
}

function ExistingRole({ id }: { id: number }) {
  const me = useMe()
  const navigate = useNavigate()
  const role = useQuery(apiQuery('/api/admin/roles/{roleId}', { path: { roleId: id } }))
  const deletion = useChange({
    change: () => api.delete('/api/admin/roles/{roleId}', { path: { roleId: id } }),
    invalidates: ['/api/admin/user', '/api/admin/projects'],
    showsErrors: true,
  })
  const [remove, question] = useConfirm((name: string) => ({
    title: `Delete role ${name}?`,
    description: 'Everyone who has it loses its permissions at once. This cannot be undone.',
    action: 'Delete role',
    typeToConfirm: name,
    onConfirm: async () => {
      await deletion.mutateAsync()
      await navigate({ to: '/roles' })
      toast.success(`Role ${name} deleted`)
    },
  }))
  const custom = role.data && !isBuiltIn(role.data.type)
  return (
    <Page
      title={role.data?.name ?? 'Role'}
      crumbs={crumbs}
      aside={
        role.data && (
          <>
            <Badge>{isBuiltIn(role.data.type) ? 'Built in' : 'Custom'}</Badge>
            {me.isAdmin && !isProjectRole(role.data.type) && <Holders role={role.data} />}
          </>
        )
      }
      actions={
        custom && (
          <Button variant="danger" icon={<Icons.Trash />} disabledReason={me.can('ADMIN').reason} onClick={() => remove(role.data.name)}>
            Delete role
          </Button>
        )
      }
    >
      <Loaded query={role}>
        {(data) => (isBuiltIn(data.type) || !me.can('ADMIN').allowed ? <RoleView role={data} /> : <RoleForm key={id} role={data} />)}
      </Loaded>
      {question}
    </Page>
  )
}

// The users who have a role in the whole service.
function Holders({ role }: { role: Schema<'RoleWithPermissions'> }) {
  const users = useQuery(apiQuery('/api/admin/user-admin'))
  const count = users.data?.users.filter(({ rootRole }) => rootRole === role.id).length
  if (count === undefined) return null
  return (
    <Link to="/users" search={{ role: role.name }}>
      {count === 1 ? '1 user has it' : `${plural(count, 'user')} have it`}
    </Link>
  )
}

// A role that the caller cannot change.
function RoleView({ role }: { role: Schema<'RoleWithPermissions'> }) {
  const permissions = useQuery(apiQuery('/api/admin/permissions'))
  return (
    <div className="stack narrow">
      {role.description && <p>{role.description}</p>}
      <Loaded query={permissions}>{({ permissions: groups }) => <PermissionTables groups={groups} type={role.type} value={grantsOf(role)} />}</Loaded>
    </div>
  )
}

interface Values {
  name: string
  description: string
  type: 'custom' | 'root-custom'
  grants: Grant[]
}

function RoleForm({ role }: { role?: Schema<'RoleWithPermissions'> }) {
  const me = useMe()
  const navigate = useNavigate()
  const permissions = useQuery(apiQuery('/api/admin/permissions'))
  const reason = me.can('ADMIN').reason
  const form = useChangeForm<Values, unknown>({
    initial: {
      name: role?.name ?? '',
      description: role?.description ?? '',
      type: role?.type === 'root-custom' ? 'root-custom' : 'custom',
      grants: role ? grantsOf(role) : [],
    },
    nameField: 'name',
    pointers: { grants: '/permissions' },
    change: ({ name, description, type, grants }) => {
      const granted = permissionsOf(grantsFor(type, grants, permissions.data?.permissions.root ?? []))
      const body = { name: name.trim(), description: description.trim(), type, permissions: granted }
      return role ? api.put('/api/admin/roles/{roleId}', { path: { roleId: role.id }, body }) : api.post('/api/admin/roles', { body })
    },
    invalidates: affected,
    success: (_, { name }) => (role ? `Role ${name} saved` : `Role ${name} created`),
    onSuccess: () => void navigate({ to: '/roles' }),
  })
  const grants = form.field('grants')
  return (
    <form {...form.props}>
      <Section title="Role">
        <div className="stack">
          <TextField label="Name" required maxLength={100} disabledReason={reason} {...form.field('name')} />
          <TextArea label="Description" maxLength={2000} disabledReason={reason} {...form.field('description')} />
          {!role && (
            <RadioGroup
              label="Where it applies"
              choices={[
                { value: 'custom', label: 'In projects', hint: 'Members of a project have it there.' },
                { value: 'root-custom', label: 'In the whole service', hint: 'Users have it everywhere, instead of Admin, Editor or Viewer.' },
              ]}
              {...form.field('type')}
            />
          )}
        </div>
      </Section>
      <Section title="Permissions">
        <Loaded query={permissions}>
          {({ permissions: groups }) => <PermissionTables groups={groups} type={form.values.type} value={grants.value} onChange={grants.onChange} />}
        </Loaded>
        {grants.error && (
          <p role="alert" className="field-error">
            {grants.error}
          </p>
        )}
      </Section>
      <FormActions form={form} submit={role ? 'Save' : 'Create role'} onCancel={() => void navigate({ to: '/roles' })} disabledReason={reason} />
    </form>
  )
}
