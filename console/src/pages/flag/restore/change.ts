import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { api, isNotFound, useChange, versionedQuery, type ApiRequest, type Versioned } from '../../../api'
import { environmentPath, flagPath, touched, type Flag, type FlagEnvironment } from '../data'
import { changedSince, idsOf, listPath, orderRequest, strategyPath, switchesOff, undoOrder, undoStrategy } from '../strategy/changes'
import { copyRequest, type Strategy } from '../strategy/model'
import { draftOf, requestOf, type Variant } from '../variants/model'
import { undoVariants } from '../variants/undo'
import { inOrder, settingsIn, withTags, without, type Order, type Settings, type Tag, type Versions } from './versions'

/** What is stored now, with its version; null if there is none. */
export interface Present<State> {
  state: State | null
  etag: string | null
}

/** A part of a flag that can be restored. */
export interface Restoring<State> {
  /** undefined while it is read. */
  present?: Present<State>
  error: Error | null
  reread: () => Promise<Present<State> | undefined>
  /** What restoring each version of the event leads to. */
  versions: Versions<State>
  restore: (version: State) => Promise<unknown>
}

// The dialog starts from the newest version, which must not change below it.
const fresh = { gcTime: 0, staleTime: Infinity, refetchOnMount: 'always', retry: false } as const
const variantsPath = `${environmentPath}/variants` as const
const tagsPath = '/api/admin/features/{featureName}/tags'

interface Change<State> {
  version: State
  from: Present<State>
}

type Result<Body> = Pick<UseQueryResult<Versioned<Body>>, 'data' | 'error'>

// What a query has read. Only a strategy can be gone while the flag is there.
function read<Body, State>(query: UseQueryResult<Versioned<Body>>, stateOf: (body: Body) => State, canBeGone = false) {
  const gone = ({ error }: Result<Body>) => canBeGone && isNotFound(error)
  const presentOf = (result: Result<Body>): Present<State> | undefined =>
    gone(result) ? { state: null, etag: null } : result.data && { state: stateOf(result.data.body), etag: result.data.etag }
  return { present: presentOf(query), error: gone(query) ? null : query.error, reread: async () => presentOf(await query.refetch()) }
}

/** Restores a strategy by an ordinary change of it, or adds it again if it is gone. The version that was shown is the one that is replaced. */
export function useRestoreStrategy(flag: Flag, environment: FlagEnvironment, id: string, versions: Versions<Strategy>): Restoring<Strategy> {
  const at = { projectId: flag.project, featureName: flag.name, environment: environment.name }
  const query = useQuery({ ...versionedQuery(strategyPath, { path: { ...at, strategyId: id } }), ...fresh })
  const stored = read(query, (strategy) => strategy, true)
  const request = ({ version, from }: Change<Strategy>): ApiRequest<Strategy> =>
    from.state
      ? api.request.put(strategyPath, { path: { ...at, strategyId: id }, body: copyRequest(version), ifMatch: from.etag })
      : api.request.post(listPath, { path: at, body: { ...copyRequest(version), sortOrder: version.sortOrder } })
  const change = useChange({
    change: (input: Change<Strategy>) => api.send(request(input)),
    requests: (input) => [request(input)],
    invalidates: touched,
    success: `Strategy of ${flag.name} restored in ${environment.name}`,
    undo: ({ version, from }, made) => {
      const off = from.state !== null && version.disabled && switchesOff(environment, from.state)
      return undoStrategy({ flag, environment: environment.name, made, before: from.state, off })
    },
    showsErrors: true,
  })
  return { ...stored, versions, restore: (version) => change.mutateAsync({ version, from: stored.present! }) }
}

/** Restores the variants of an environment, which are one list. */
export function useRestoreVariants(flag: Flag, environment: FlagEnvironment, versions: Versions<Variant[]>): Restoring<Variant[]> {
  const path = { projectId: flag.project, featureName: flag.name, environment: environment.name }
  const stored = read(useQuery({ ...versionedQuery(variantsPath, { path }), ...fresh }), ({ variants }) => variants)
  const request = ({ version, from }: Change<Variant[]>) =>
    api.request.put(variantsPath, { path, body: version.map((one) => requestOf(draftOf(one))), ifMatch: from.etag })
  const change = useChange({
    change: (input: Change<Variant[]>) => api.send(request(input)),
    requests: (input) => [request(input)],
    invalidates: touched,
    success: `Variants of ${flag.name} restored in ${environment.name}`,
    undo: ({ from }, made) => undoVariants(flag, environment.name, made, from.state ?? []),
    showsErrors: true,
  })
  return { ...stored, versions, restore: (version) => change.mutateAsync({ version, from: stored.present! }) }
}

/** Restores the order of the strategies that there are now. */
export function useRestoreOrder(flag: Flag, environment: FlagEnvironment, { before, after }: Versions<Order>): Restoring<Strategy[]> {
  const path = { projectId: flag.project, featureName: flag.name, environment: environment.name }
  const stored = read(useQuery({ ...versionedQuery(listPath, { path }), ...fresh }), (list) => list)
  const request = ({ version, from }: Change<Strategy[]>) => orderRequest(flag, environment.name, idsOf(version), from.etag)
  const change = useChange({
    change: (input: Change<Strategy[]>) => api.send(request(input)),
    requests: (input) => [request(input)],
    invalidates: touched,
    success: `Order of the strategies of ${flag.name} restored in ${environment.name}`,
    undo: ({ version, from }) => undoOrder(flag, environment.name, idsOf(version), idsOf(from.state!)),
    showsErrors: true,
  })
  const now = stored.present?.state ?? []
  return {
    ...stored,
    versions: { before: before && inOrder(now, before), after: after && inOrder(now, after) },
    restore: (version) => change.mutateAsync({ version, from: stored.present! }),
  }
}

/** Restores description, type, impression data and the type of the values. The flag has more than these, so a patch tests them instead of the version. */
export function useRestoreSettings(flag: Flag, versions: Versions<Settings>): Restoring<Settings> {
  const path = { projectId: flag.project, featureName: flag.name }
  const stored = read(useQuery({ ...versionedQuery(flagPath, { path }), ...fresh }), (body) => settingsIn(body)!)
  const replace = (from: Settings, to: Settings) => {
    const of = (op: 'test' | 'replace', values: Settings) => Object.entries(values).map(([name, value]) => ({ op, path: `/${name}`, value }))
    return api.patch(flagPath, { path, body: [...of('test', from), ...of('replace', to)] })
  }
  const change = useChange({
    change: ({ version, from }: Change<Settings>) => replace(from.state!, version),
    invalidates: touched,
    success: `Settings of ${flag.name} restored`,
    undo: async ({ version, from }) => {
      const now = settingsIn(await api.get(flagPath, { path }))
      if (JSON.stringify(now) !== JSON.stringify(version)) throw changedSince('settings')
      await replace(version, from.state!)
    },
    showsErrors: true,
  })
  return { ...stored, versions, restore: (version) => change.mutateAsync({ version, from: stored.present! }) }
}

/** Restores the tags that an event changed. The request names only those, so it replaces no change of others. */
export function useRestoreTags(flag: Flag, { before = [], after = [] }: Versions<Tag[]>): Restoring<Tag[]> {
  const path = { featureName: flag.name }
  const stored = read(useQuery({ ...versionedQuery(tagsPath, { path }), ...fresh }), ({ tags }) => tags)
  const replace = (from: Tag[], to: Tag[]) => api.put(tagsPath, { path, body: { addedTags: without(to, from), removedTags: without(from, to) } })
  const change = useChange({
    change: ({ version, from }: Change<Tag[]>) => replace(from.state!, version),
    invalidates: [...touched, '/api/admin/tags'],
    success: `Tags of ${flag.name} restored`,
    undo: ({ version, from }) => replace(version, from.state!),
    showsErrors: true,
  })
  const now = stored.present?.state ?? []
  return {
    ...stored,
    versions: { before: withTags(now, before, after), after: withTags(now, after, before) },
    restore: (version) => change.mutateAsync({ version, from: stored.present! }),
  }
}
