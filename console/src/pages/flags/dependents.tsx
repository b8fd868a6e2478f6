import { useQuery } from '@tanstack/react-query'
import { api, errorText } from '../../api'
import { Loading } from '../../ui'
import { flagPath } from '../flag/data'
import { childrenText } from '../flag/strategy/describe'
import { batchSize } from './bulk'

/** The other flags of a project that depend on some. */
interface Dependents {
  names: string[]
  /** Parents of still others, which were not read. */
  unread: string[]
}

const readParents = 10

/** Finds the flags that depend on some, and are not among them. A list does not have them, so the first parents are read. */
async function dependentsOf(projectId: string, flags: readonly string[]): Promise<Dependents> {
  const path = { projectId }
  const parents: string[] = []
  if (flags.length > 0 && (await api.get('/api/admin/projects/{projectId}/dependencies', { path })))
    for (let i = 0; i < flags.length; i += batchSize) {
      const features = flags.slice(i, i + batchSize)
      parents.push(...(await api.post('/api/admin/projects/{projectId}/archive/validate', { path, body: { features } })).parentsWithChildFeatures)
    }
  const read = await Promise.all(parents.slice(0, readParents).map((featureName) => api.get(flagPath, { path: { projectId, featureName } })))
  return dependentsIn(read, parents.slice(readParents), flags)
}

/** The children of parents that are not among some flags. */
export function dependentsIn(parents: readonly { children: string[] }[], unread: string[], flags: readonly string[]): Dependents {
  const changing = new Set(flags)
  return { names: [...new Set(parents.flatMap(({ children }) => children))].filter((name) => !changing.has(name)), unread }
}

/** Names the other flags that can change when some flags are switched, because they depend on them. */
export function DependentsLine({ projectId, flags }: { projectId: string; flags: readonly string[] }) {
  const { data, error } = useQuery({
    queryKey: ['dependents', projectId, flags],
    queryFn: () => dependentsOf(projectId, flags),
    staleTime: Infinity,
    gcTime: 0,
  })
  if (!data) return error ? <p>{errorText(error)}</p> : <Loading lines={1} />
  return data.names.length > 0 && <p className="break">{childrenText(data.names, data.unread)}</p>
}
