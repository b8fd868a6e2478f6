import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { apiKey, apiQuery, useMe, type Schema } from '../../api'
import { useProtection } from '../../requests/drafts'

/** A flag with its environments. */
export type Flag = Schema<'FeatureRecord'>
/** A flag in one environment. */
export type FlagEnvironment = Schema<'FeatureEnvironment'>

/** What is read again after a change of a flag. */
export const touched = ['/api/admin/projects', '/api/admin/features', '/api/admin/search', '/api/admin/events', '/api/admin/archive', '/api/admin/segments']

/** The paths of the API for one flag. */
export const flagPath = '/api/admin/projects/{projectId}/features/{featureName}'
export const environmentPath = `${flagPath}/environments/{environment}` as const

/** The parameters of environmentPath. */
export const placeIn = (flag: Flag, environment: string) => ({ projectId: flag.project, featureName: flag.name, environment })

/** The project and the name of the flag in the address. */
export function useFlagParams() {
  return useParams({ from: '/projects/$projectId/flags/$flag' })
}

/** The flag in the address. */
export function useFlag() {
  const { projectId, flag } = useFlagParams()
  return useQuery(apiQuery(flagPath, { path: { projectId, featureName: flag } }))
}

/** The flag in the address, on the tabs: the frame of the page shows them only when the flag has been read. */
export function useLoadedFlag(): Flag {
  const { data } = useFlag()
  if (!data) throw new Error('the flag has not been read yet')
  return data
}

/** The key of the cached flag. */
export const flagKey = (flag: Pick<Flag, 'project' | 'name'>) => apiKey(flagPath, { path: { projectId: flag.project, featureName: flag.name } })

/** Settings of the flag's project: its name, links and suggested stickiness. */
export function useProject(projectId: string) {
  return useQuery({ ...apiQuery('/api/admin/projects/{projectId}/overview', { path: { projectId } }), staleTime: 60_000 }).data
}

/** What everybody may propose where change requests are on, beside what is done in an environment. */
const proposable = ['DELETE_FEATURE', 'UPDATE_FEATURE_DEPENDENCY']

/** Why the caller cannot do something with the flag, as a sentence; undefined if it can, or can add it to a draft. */
export function useReasons(flag: Pick<Flag, 'project'>) {
  const { can } = useMe()
  const protection = useProtection(flag.project)
  return (permission: string, environment?: string): string | undefined =>
    (environment !== undefined || proposable.includes(permission)) && protection.drafts(environment)
      ? undefined
      : can(permission, flag.project, environment).reason
}
