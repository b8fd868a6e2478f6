// The changes of many flags that the list offers, each with what takes it back.
import { api, errorText, type ApiRequest, type Schema } from '../../api'
import { plural } from '../../ui'
import { removeAdded, switchAdding, type Added } from '../flag/added'
import { parentsOf, restore, type Parents } from '../projects/restore'
import { expectAll, inBatches, oneByOne, type BulkResult } from './bulk'
import { hasStrategies, isOn, switched, tagText, type FlagRow, type ListedRow } from './rows'

/** One change of many flags. */
export interface BulkAction {
  /** While it runs: 'Archiving'. */
  doing: string
  /** After it: 'archived'. */
  done: string
  run: (names: readonly string[], onProgress: (finished: number) => void, stopped: () => boolean) => Promise<BulkResult>
  /** The same change for a draft, where change requests are on. */
  requests?: (names: readonly string[]) => ApiRequest[]
  /** Takes the change of the named flags back, which it changed. */
  undo?: (names: readonly string[]) => Promise<unknown>
  /** The flags that were as the action makes them, and how that is: 'on'. They are not counted as changed. */
  already?: { how: string; names: ReadonlySet<string> }
  /** How the changed flags look in the list; absent if they leave it or the list is read again. */
  patch?: (row: ListedRow) => ListedRow
}

const named = (rows: readonly FlagRow[], names: readonly string[]) => {
  const wanted = new Set(names)
  return rows.filter((row) => wanted.has(row.name))
}

const already = (how: string, flags: readonly FlagRow[], is: (row: FlagRow) => boolean) => ({ how, names: new Set(namesOf(flags.filter(is))) })

const namesOf = (rows: readonly FlagRow[]) => rows.map((row) => row.name)

function switchRequest(projectId: string, environment: string, on: boolean, features: string[]): ApiRequest {
  const options = { path: { projectId, environment }, body: { features } }
  return on
    ? api.request.post('/api/admin/projects/{projectId}/bulk_features/environments/{environment}/on', options)
    : api.request.post('/api/admin/projects/{projectId}/bulk_features/environments/{environment}/off', options)
}

const sendSwitch = (...of: Parameters<typeof switchRequest>) => api.send(switchRequest(...of))

/** Switches the flags on or off in an environment. hasStandard: the project has a default strategy for flags that have none there. */
export function switchAction(projectId: string, flags: readonly FlagRow[], environment: string, on: boolean, hasStandard = false): BulkAction {
  const place = { projectId, environment }
  const bare = on && hasStandard ? namesOf(flags.filter((row) => !hasStrategies(row, environment))) : []
  let added: Added = new Map()
  return {
    doing: on ? 'Switching on' : 'Switching off',
    already: already(on ? 'on' : 'off', flags, (row) => isOn(row, environment) === on),
    done: `switched ${on ? 'on' : 'off'} in ${environment}`,
    run: async (names, onProgress, stopped) => {
      const send = () => inBatches(names, (batch) => sendSwitch(projectId, environment, on, batch), onProgress, stopped)
      const sent = await switchAdding(place, bare, send)
      added = sent.added
      return sent.result
    },
    requests: (names) => [switchRequest(projectId, environment, on, [...names])],
    undo: async (names) => {
      if (!on) await expectUntouched(environment, names)
      expectAll(await inBatches(names, (batch) => sendSwitch(projectId, environment, !on, batch)))
      const changed = new Set(names)
      await removeAdded(place, new Map([...added].filter(([name]) => changed.has(name))))
    },
    patch: (row) => switched(row, environment, on),
  }
}

const switches = 'feature-environment-disabled,feature-environment-enabled,feature-strategy-add,feature-strategy-update,feature-strategy-remove'

// Throws if a flag or its strategies changed since it was switched off, by its newest event: Undo would switch it on for others.
async function expectUntouched(environment: string, names: readonly string[]) {
  const look = async (featureName: string) => {
    const { events } = await api.get('/api/admin/events/{featureName}', { path: { featureName }, query: { type: `IS_ANY_OF:${switches}` } })
    if (events.find((event) => event.environment === environment)?.type !== 'feature-environment-disabled')
      throw new Error(`Meanwhile ${featureName} has changed in ${environment}. Nothing was undone.`)
  }
  expectAll(await oneByOne(names, look))
}

/** Marks the flags as stale, or as active again. */
export function staleAction(projectId: string, flags: readonly FlagRow[], stale: boolean): BulkAction {
  const send = (value: boolean) => (features: string[]) =>
    api.post('/api/admin/projects/{projectId}/stale', { path: { projectId }, body: { features, stale: value } })
  return {
    doing: stale ? 'Marking as stale' : 'Marking as active',
    already: already(stale ? 'stale' : 'active', flags, (row) => row.stale === stale),
    done: stale ? 'marked as stale' : 'marked as active',
    run: (names, onProgress, stopped) => inBatches(names, send(stale), onProgress, stopped),
    undo: async (names) => expectAll(await inBatches(names, send(!stale))),
    patch: (row) => ({ ...row, stale }),
  }
}

/** Archives the flags. Undo revives them with their parents, and switches them on where they were. */
export function archiveAction(projectId: string, flags: readonly FlagRow[]): BulkAction {
  const request = (features: string[]) => api.request.post('/api/admin/projects/{projectId}/archive', { path: { projectId }, body: { features } })
  let parents: Parents = new Map()
  return {
    doing: 'Archiving',
    done: 'archived',
    run: async (names, onProgress, stopped) => {
      try {
        parents = await parentsOf(projectId, names)
      } catch (error) {
        return { done: [], failed: names.map((name) => ({ name, message: errorText(error) })) }
      }
      return inBatches(names, (features) => api.send(request(features)), onProgress, stopped)
    },
    requests: (names) => [request([...names])],
    undo: (names) => restore(projectId, named(flags, names), new Map([...parents].filter(([name]) => names.includes(name)))),
  }
}

/** Adds tags to the flags and removes others. */
export function tagAction(projectId: string, flags: readonly FlagRow[], added: Schema<'Tag'>[], removed: Schema<'Tag'>[]): BulkAction {
  const send = (addedTags: Schema<'Tag'>[], removedTags: Schema<'Tag'>[]) => (features: string[]) =>
    api.put('/api/admin/projects/{projectId}/tags', { path: { projectId }, body: { features, tags: { addedTags, removedTags } } })
  const has = (row: FlagRow, tag: Schema<'Tag'>) => Boolean(row.tags?.some((one) => tagText(one) === tagText(tag)))
  return {
    doing: 'Changing the tags',
    done: 'tagged',
    run: (names, onProgress, stopped) => inBatches(names, send(added, removed), onProgress, stopped),
    undo: async (names) => {
      const changed = named(flags, names)
      for (const tag of added) expectAll(await inBatches(namesOf(changed.filter((row) => !has(row, tag))), send([], [tag])))
      for (const tag of removed) expectAll(await inBatches(namesOf(changed.filter((row) => has(row, tag))), send([tag], [])))
    },
    patch: (row) => {
      const kept = (row.tags ?? []).filter((tag) => ![...added, ...removed].some((one) => tagText(one) === tagText(tag)))
      return { ...row, tags: [...kept, ...added].sort((a, b) => (tagText(a) < tagText(b) ? -1 : 1)) }
    },
  }
}

/** Moves the flags to another project. */
export function moveAction(projectId: string, target: string): BulkAction {
  const move = (from: string, to: string) => (featureName: string) =>
    api.post('/api/admin/projects/{projectId}/features/{featureName}/changeProject', { path: { projectId: from, featureName }, body: { newProjectId: to } })
  return {
    doing: 'Moving',
    done: `moved to ${target}`,
    run: (names, onProgress, stopped) => oneByOne(names, move(projectId, target), onProgress, stopped),
    undo: async (names) => expectAll(await oneByOne(names, move(target, projectId))),
  }
}

/** The change of some of the flags: those of one project. */
export interface BulkPart {
  names: string[]
  action: BulkAction
}

/** Makes one change of those of several projects, one project after the other. */
export function combined(parts: readonly BulkPart[]): BulkAction {
  const of = ({ names }: BulkPart, some: readonly string[]) => names.filter((name) => some.includes(name))
  return {
    ...parts[0]!.action,
    already: parts[0]!.action.already && {
      how: parts[0]!.action.already.how,
      names: new Set(parts.flatMap(({ action }) => [...(action.already?.names ?? [])])),
    },
    run: async (names, onProgress, stopped) => {
      const result: BulkResult = { done: [], failed: [] }
      for (const part of parts) {
        const before = result.done.length + result.failed.length
        const { done, failed } = await part.action.run(of(part, names), (finished) => onProgress(before + finished), stopped)
        result.done.push(...done)
        result.failed.push(...failed)
      }
      return result
    },
    undo:
      parts[0]!.action.undo &&
      (async (names) => {
        for (const part of parts) if (of(part, names).length > 0) await part.action.undo?.(of(part, names))
      }),
  }
}

/** The flags that an action changed. */
export const changedBy = ({ already }: BulkAction, { done }: BulkResult) => (already ? done.filter((name) => !already.names.has(name)) : done)

/** What an action did, as a sentence. */
export function resultText(action: BulkAction, result: BulkResult): string {
  const changed = changedBy(action, result).length
  const same = result.done.length - changed
  const rest = same > 0 ? `; ${changed === 0 ? plural(same, 'flag') : same} ${same === 1 ? 'was' : 'were'} ${action.already?.how} already` : ''
  return `${changed === 0 ? 'No flag' : plural(changed, 'flag')} ${action.done}${rest}`
}

/** What a switch of the flags would do, as sentences, and the flags that it would change. standardOf says whom the default strategy of a project selects. */
export function foreseen(flags: readonly FlagRow[], environment: string, on: boolean, standardOf: (project: string) => string | undefined) {
  const others = flags.filter((row) => isOn(row, environment) !== on)
  const changing = on ? others.filter((row) => hasStrategies(row, environment) || standardOf(row.project)) : others
  const same = flags.length - others.length
  const unable = others.length - changing.length
  const parts = [
    `${changing.length} of ${plural(flags.length, 'flag')} will be switched ${on ? 'on' : 'off'}`,
    same > 0 && `${same} ${same === 1 ? 'is' : 'are'} ${on ? 'on' : 'off'} already`,
    unable > 0 && `${unable} cannot, without a strategy there`,
  ]
  const without = on ? changing.filter((row) => !hasStrategies(row, environment)) : []
  const bare = without.length
  const standards = [...new Set(without.map(({ project }) => standardOf(project)))].join(' ')
  const rest = bare > 0 ? ` ${bare} ${bare === 1 ? 'has' : 'have'} no strategy there, so the project's default strategy is added: ${standards}` : ''
  return { changing: namesOf(changing), text: `${parts.filter(Boolean).join('; ')}.${rest}` }
}
