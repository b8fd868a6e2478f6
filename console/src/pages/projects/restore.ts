import { api, type Schema } from '../../api'
import { expectAll, inBatches, oneByOne } from '../flags/bulk'

const flagPath = '/api/admin/projects/{projectId}/features/{featureName}'

/** A flag with what archiving takes from it. */
export interface Archivable {
  name: string
  environments: Pick<Schema<'RowEnvironment'>, 'name' | 'enabled' | 'lastSeenAt'>[]
}

/** The environments in which a flag is on. */
export function enabledIn(flag: Archivable): string[] {
  return flag.environments.filter((environment) => environment.enabled).map((environment) => environment.name)
}

/** When a flag was last used in any environment, null if never. */
export function lastSeen(flag: Archivable): string | null {
  const times = flag.environments.map((environment) => environment.lastSeenAt ?? '').sort()
  return times.at(-1) || null
}

/** The names of flags by the environment in which they are on. */
export function byEnvironment(flags: readonly Archivable[]): Map<string, string[]> {
  const names = new Map<string, string[]>()
  for (const flag of flags) {
    for (const environment of enabledIn(flag)) names.set(environment, [...(names.get(environment) ?? []), flag.name])
  }
  return names
}

/** The parents of flags, by the names of the flags. */
export type Parents = ReadonlyMap<string, readonly Schema<'Dependency'>[]>

/** Reads the parents of flags, which archiving takes from them. */
export async function parentsOf(projectId: string, names: readonly string[]): Promise<Parents> {
  const parents = new Map<string, Schema<'Dependency'>[]>()
  if (!(await api.get('/api/admin/projects/{projectId}/dependencies', { path: { projectId } }))) return parents
  const read = async (featureName: string) => {
    const { dependencies } = await api.get(flagPath, { path: { projectId, featureName } })
    if (dependencies.length > 0) parents.set(featureName, dependencies)
  }
  expectAll(await oneByOne(names, read))
  return parents
}

/** Reads from the log which parents archiving took from flags that are archived. */
export async function lostParents(names: readonly string[]): Promise<Parents> {
  const parents = new Map<string, Schema<'Dependency'>[]>()
  const read = async (featureName: string) => {
    const type = 'IS_ANY_OF:feature-archived,feature-dependencies-removed'
    const { events } = await api.get('/api/admin/events/{featureName}', { path: { featureName }, query: { type } })
    const lost = lostIn(events)
    if (lost.length > 0) parents.set(featureName, lost)
  }
  expectAll(await oneByOne(names, read))
  return parents
}

/** The parents that a flag lost when it was archived the last time, by its events, newest first. Both events have the same time. */
export function lostIn(events: readonly Pick<Schema<'Event'>, 'type' | 'createdAt' | 'preData'>[]): Schema<'Dependency'>[] {
  const archived = events.find(({ type }) => type === 'feature-archived')?.createdAt
  const removed = events.find(({ type, createdAt }) => type === 'feature-dependencies-removed' && createdAt === archived)
  return (removed?.preData?.dependencies as Schema<'Dependency'>[] | undefined) ?? []
}

/** Adds parents to flags again. */
async function addParents(projectId: string, parents: Parents) {
  for (const [featureName, dependencies] of parents)
    for (const body of dependencies) await api.post(`${flagPath}/dependencies`, { path: { projectId, featureName }, body })
}

/** Switches flags on in an environment where they were on. */
export async function switchOn(projectId: string, environment: string, names: readonly string[]) {
  const path = '/api/admin/projects/{projectId}/bulk_features/environments/{environment}/on'
  expectAll(await inBatches(names, (features) => api.post(path, { path: { projectId, environment }, body: { features } })))
}

/**
 * Undoes archiving: revives the flags, which are then off and without parents, adds the parents, and switches the flags on where they were on.
 * Flags that are not archived any more, because another person has revived them, stay as that person wants them.
 */
export async function restore(projectId: string, flags: readonly Archivable[], parents: Parents) {
  const names = flags.map(({ name }) => name)
  const { features } = await api.get('/api/admin/projects/{projectId}/features', { path: { projectId } })
  const revived = features.find(({ name }) => names.includes(name))
  if (revived) throw new Error(`Meanwhile ${revived.name} was revived. Nothing was changed.`)
  expectAll(await inBatches(names, (some) => api.post('/api/admin/projects/{projectId}/revive', { path: { projectId }, body: { features: some } })))
  await addParents(projectId, parents)
  for (const [environment, wereOn] of byEnvironment(flags)) await switchOn(projectId, environment, wereOn)
}

/** Throws if one of the flags is on somewhere by now: Undo of reviving them would archive it. */
export async function expectOffEverywhere(projectId: string, names: readonly string[]) {
  const { features } = await api.get('/api/admin/projects/{projectId}/features', { path: { projectId } })
  const live = features.find((flag) => names.includes(flag.name) && flag.environments.some(({ enabled }) => enabled))
  if (live) throw new Error(`Meanwhile ${live.name} was switched on. Nothing was undone.`)
}

/** Archives a flag, and returns what takes that back. It reads the flag before, as the page may be seconds old. */
export async function archiveFlag(projectId: string, featureName: string) {
  const path = { projectId, featureName }
  const before = await api.get(flagPath, { path })
  await api.delete(flagPath, { path })
  return () => restore(projectId, [before], new Map([[featureName, before.dependencies]]))
}
