// What the caller's draft already changes of a flag: a form that adds to the draft starts from that.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, useMe } from '../api'
import { at, draftPath, isDraftOf, pendingQuery, requestPath, type StoredChange } from './data'
import { protection, useProtection } from './drafts'

/** The changes of a flag in the caller's draft for an environment, read when a form opens; none where the caller changes directly. */
export function useDrafted({ project, name }: { project: string; name: string }, environment: string) {
  const client = useQueryClient()
  const me = useMe().user?.id
  const direct = useProtection(project).isDirect(environment)
  return useQuery({
    queryKey: [draftPath, { projectId: project, environment, featureName: name, direct }, 'drafted'],
    queryFn: async (): Promise<readonly StoredChange[]> => {
      const { environments } = await client.ensureQueryData(protection(project))
      if (direct || !environments.some((one) => one.environment === environment)) return []
      const pending = await client.fetchQuery({ ...pendingQuery(project), staleTime: 0 })
      const draft = pending.find((one) => isDraftOf(one, me) && one.environment === environment)
      if (!draft) return []
      const { features } = await api.get(requestPath, { path: at(draft) })
      return features.find((one) => one.name === name)?.changes ?? []
    },
    gcTime: 0,
    staleTime: Infinity,
    refetchOnMount: 'always',
  })
}
