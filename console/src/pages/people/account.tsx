import { useQuery } from '@tanstack/react-query'
import { apiQuery } from '../../api'
import { Select } from '../../ui'

/** The roles that hold in the whole service. */
export function useRootRoles() {
  const roles = useQuery(apiQuery('/api/admin/roles'))
  const root = (roles.data?.roles ?? []).filter((role) => role.type === 'root' || role.type === 'root-custom')
  return { root, nameOf: (id: number) => root.find((role) => role.id === id)?.name ?? (roles.isPending ? '' : 'Unknown role') }
}

/** The field for the role of an account in the whole service. */
export function RootRoleField(field: { value: string; onChange: (value: string) => void; error?: string }) {
  const { root } = useRootRoles()
  return (
    <Select
      label="Role in the whole service"
      choices={root.map((role) => ({ value: String(role.id), label: role.name }))}
      hint={root.find((role) => String(role.id) === field.value)?.description || undefined}
      {...field}
    />
  )
}
