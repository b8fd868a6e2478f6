import { api, type Schema } from '../../api'

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

/** Undoes archiving: revives the flags, which are then off, and switches them on where they were on. */
export async function restore(projectId: string, flags: readonly Archivable[]) {
  await api.post('/api/admin/projects/{projectId}/revive', { path: { projectId }, body: { features: flags.map((flag) => flag.name) } })
  for (const [environment, features] of byEnvironment(flags)) {
    await api.post('/api/admin/projects/{projectId}/bulk_features/environments/{environment}/on', { path: { projectId, environment }, body: { features } })
  }
}
