import { useQuery } from '@tanstack/react-query'
import { apiQuery } from '../api'

/** The name of a project by its id, where the page knows only that. */
export const ProjectName = ({ id }: { id: string }) => <span className="break">{useProjectNames()(id)}</span>

/** The names of projects by their ids; the id until they are read. */
export function useProjectNames() {
  const { data } = useQuery({ ...apiQuery('/api/admin/projects'), staleTime: 60_000 })
  return (id: string) => data?.projects.find((one) => one.id === id)?.name ?? id
}
