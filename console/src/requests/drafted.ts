// What the caller's draft already changes of a flag: what is added to the draft starts from that.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, useMe } from '../api'
import { at, draftPath, isDraftOf, pendingQuery, requestPath, type StoredChange } from './data'
import { draftFor, protection, useProtection } from './drafts'

/** Reads the changes of a flag in the caller's draft for an environment; none where the caller changes directly. */
export function useReadDrafted({ project, name }: { project: string; name: string }, environment: string) {
  const client = useQueryClient()
  const me = useMe().user?.id
  return async (): Promise<readonly StoredChange[]> => {
    const { environments } = await client.ensureQueryData(protection(project))
    if (draftFor(environments, project, environment) === undefined) return []
    const pending = await client.fetchQuery({ ...pendingQuery(project), staleTime: 0 })
    const draft = pending.find((one) => isDraftOf(one, me) && one.environment === environment)
    if (!draft) return []
    const { features } = await api.get(requestPath, { path: at(draft) })
    return features.find((one) => one.name === name)?.changes ?? []
  }
}

/** The same, read when a form opens. */
export function useDrafted(flag: { project: string; name: string }, environment: string) {
  const direct = useProtection(flag.project).isDirect(environment)
  return useQuery({
    queryKey: [draftPath, { projectId: flag.project, environment, featureName: flag.name, direct }, 'drafted'],
    queryFn: useReadDrafted(flag, environment),
    gcTime: 0,
    staleTime: Infinity,
    refetchOnMount: 'always',
  })
}
