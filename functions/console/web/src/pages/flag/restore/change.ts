import { useQuery } from '@tanstack/react-query'
import { api, isNotFound, useChange, versionedQuery, type ApiRequest } from '../../../api'
import { environmentPath, touched, type Flag, type FlagEnvironment } from '../data'
import { strategyPath, switchesOff, undoStrategy } from '../strategy/changes'
import { copyRequest, type Strategy } from '../strategy/model'
import { draftOf, requestOf, type Variant } from '../variants/model'
import { undoVariants } from '../variants/undo'

/** What is stored now, with its version; null if there is none. */
export interface Present<State> {
  state: State | null
  etag: string | null
}

interface Restoring<State> {
  /** undefined while it is read. */
  present?: Present<State>
  error: Error | null
  reread: () => void
  restore: (version: State) => Promise<unknown>
}

// The dialog starts from the newest version, which must not change below it.
const fresh = { gcTime: 0, staleTime: Infinity, refetchOnMount: 'always', retry: false } as const
const variantsPath = `${environmentPath}/variants` as const

/** Restores a strategy by an ordinary change of it, or adds it again if it is gone. The version that was shown is the one that is replaced. */
export function useRestoreStrategy(flag: Flag, environment: FlagEnvironment, id: string): Restoring<Strategy> {
  const at = { projectId: flag.project, featureName: flag.name, environment: environment.name }
  const query = useQuery({ ...versionedQuery(strategyPath, { path: { ...at, strategyId: id } }), ...fresh })
  const gone = isNotFound(query.error)
  const present = gone ? { state: null, etag: null } : query.data && { state: query.data.body, etag: query.data.etag }
  const request = (version: Strategy, from: Present<Strategy>): ApiRequest<Strategy> =>
    from.state
      ? api.request.put(strategyPath, { path: { ...at, strategyId: id }, body: copyRequest(version), ifMatch: from.etag })
      : api.request.post(`${environmentPath}/strategies`, { path: at, body: { ...copyRequest(version), sortOrder: version.sortOrder } })
  const change = useChange({
    change: ({ version, from }: { version: Strategy; from: Present<Strategy> }) => api.send(request(version, from)),
    requests: ({ version, from }) => [request(version, from)],
    invalidates: touched,
    success: `Strategy of ${flag.name} restored in ${environment.name}`,
    undo: ({ version, from }, made) => {
      const off = from.state !== null && version.disabled && switchesOff(environment, from.state)
      return undoStrategy({ flag, environment: environment.name, made, before: from.state, off })
    },
    showsErrors: true,
  })
  return {
    present,
    error: gone ? null : query.error,
    reread: () => void query.refetch(),
    restore: (version) => change.mutateAsync({ version, from: present! }),
  }
}

/** Restores the variants of an environment, which are one list. */
export function useRestoreVariants(flag: Flag, environment: FlagEnvironment): Restoring<Variant[]> {
  const path = { projectId: flag.project, featureName: flag.name, environment: environment.name }
  const query = useQuery({ ...versionedQuery(variantsPath, { path }), ...fresh })
  const present = query.data && { state: query.data.body.variants, etag: query.data.etag }
  const request = (variants: readonly Variant[], ifMatch: string | null) =>
    api.request.put(variantsPath, { path, body: variants.map((one) => requestOf(draftOf(one))), ifMatch })
  const change = useChange({
    change: ({ version, from }: { version: Variant[]; from: Present<Variant[]> }) => api.send(request(version, from.etag)),
    requests: ({ version, from }) => [request(version, from.etag)],
    invalidates: touched,
    success: `Variants of ${flag.name} restored in ${environment.name}`,
    undo: ({ from }, made) => undoVariants(flag, environment.name, made, from.state ?? []),
    showsErrors: true,
  })
  return {
    present,
    error: query.error,
    reread: () => void query.refetch(),
    restore: (version) => change.mutateAsync({ version, from: present! }),
  }
}
