import { useQuery } from '@tanstack/react-query'
import { apiQuery } from '../../api'

/** The roles that hold in the whole service, as choices of a field. */
export function useRootRoles() {
  const roles = useQuery(apiQuery('/api/admin/roles'))
  const root = (roles.data?.roles ?? []).filter((role) => role.type === 'root' || role.type === 'root-custom')
  return {
    query: roles,
    choices: root.map((role) => ({ value: String(role.id), label: role.name })),
    nameOf: (id: number) => root.find((role) => role.id === id)?.name ?? (roles.isPending ? '' : 'Unknown role'),
    descriptionOf: (id: number) => root.find((role) => role.id === id)?.description ?? '',
  }
}
