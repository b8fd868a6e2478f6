// Reading and changing the flags of a project.
import { queryOptions, useMutation, useQueryClient, type QueryClient } from '@tanstack/react-query'
import { api, apiQuery, errorText, invalidate, refreshIn, type ApiRequest, type Schema } from '../../api'
import { propose, proposalOf } from '../../requests/drafts'
import { toast } from '../../ui'
import { switchOne, undoOne, type Switched } from '../flag/added'
import { changeRows, switched, type FlagRow, type ListedRow } from './rows'

const path = '/api/admin/projects/{projectId}/features'
const searchPath = '/api/admin/search/features'

/** Lists with more flags are read again every minute instead of every ten seconds. */
const longList = 500

type FlagList = Schema<'FeatureList'>

/**
 * The whole list of a project, in one response: 10,000 flags are 230 KB compressed. The server reads every row of the project for any
 * part of the list, so filters, sorting and scrolling work on what was loaded.
 */
export function flagList(projectId: string) {
  return queryOptions({
    ...apiQuery(path, { path: { projectId } }),
    // Reading a long list costs hundreds of read units, with and without an ETag.
    refetchInterval: ({ state: { data, error } }) => refreshIn({ error, staleTime: data && data.features.length > longList ? 60_000 : 0 }),
    staleTime: 60_000,
    // Comparing 10,000 rows with those before takes longer than drawing the visible ones again.
    structuralSharing: false,
    select: placedIn(projectId),
  })
}

const placers = new Map<string, (list: FlagList) => { features: FlagRow[] }>()

// One function for each project, so that the rows stay the same while the list does.
function placedIn(project: string) {
  const place = placers.get(project) ?? (({ features }) => ({ features: features.map((row) => ({ ...row, project })) }))
  placers.set(project, place)
  return place
}

/** Reads the flags again, as the list of their project may be seconds old. Flags that have left it are left out. */
export async function readAgain(client: QueryClient, flags: readonly FlagRow[]): Promise<FlagRow[]> {
  const lists = await Promise.all(
    projectsOf(flags).map(async (project) => placedIn(project)(await client.fetchQuery({ ...flagList(project), staleTime: 0 })).features),
  )
  const rows = new Map(lists.flat().map((row) => [row.name, row]))
  return flags.flatMap(({ name }) => rows.get(name) ?? [])
}

/** The projects of some flags. */
export const projectsOf = (flags: readonly FlagRow[]) => [...new Set(flags.map(({ project }) => project))]

/** Changes rows of the cached lists, without reading these again. */
export function patchRows(client: QueryClient, names: readonly string[], change: (row: ListedRow) => ListedRow) {
  for (const queryKey of [[path], [searchPath]])
    client.setQueriesData<FlagList>({ queryKey }, (old) => old && { ...old, features: changeRows(old.features, names, change) })
}

// A read that began before a change may bring the old rows back.
const cancelReads = (client: QueryClient) => Promise.all([path, searchPath].map((one) => client.cancelQueries({ queryKey: [one] })))

/**
 * Paths of what a change in an environment of a flag makes outdated, except the list of its project, whose rows the change patches. The
 * overview of the project counts flags, which such a change does not alter.
 */
export const aroundFlags = ['/api/admin/projects/{projectId}/features/', '/api/admin/projects/{projectId}/insights', '/api/admin/search']

// A change of one row: shown at once, and taken back with the reason if the server refuses it.
function useRowChange<Input extends { name: string }, Output>(
  request: (input: Input) => ApiRequest,
  apply: (row: ListedRow, input: Input, back: boolean) => ListedRow,
  send: (input: Input) => Promise<Output>,
  done?: (input: Input, output: Output) => void,
) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async (input: Input) => ((await propose(client, [request(input)])) ? undefined : { output: await send(input) }),
    onMutate: async (input: Input) => {
      if (await proposalOf(client, [request(input)])) return true
      await cancelReads(client)
      patchRows(client, [input.name], (row) => apply(row, input, false))
      return false
    },
    onSuccess: async (sent, input) => {
      if (!sent) return
      await cancelReads(client)
      patchRows(client, [input.name], (row) => apply(row, input, false))
      done?.(input, sent.output)
    },
    onError: (error, input) => {
      patchRows(client, [input.name], (row) => apply(row, input, true))
      toast.error(`${input.name}: ${errorText(error)}`)
    },
    onSettled: () => invalidate(client, aroundFlags),
  })
}

interface Switching {
  project: string
  name: string
  environment: string
  on: boolean
  /** The flag seems to have no strategy there: switching on adds the project's default strategy. */
  adds?: boolean
}

/** Switches a flag in an environment, with Undo. */
export function useSwitchFlag() {
  const client = useQueryClient()
  const at = ({ project, name, environment }: Switching) => ({ projectId: project, featureName: name, environment })
  const request = (input: Switching): ApiRequest => {
    const options = { path: at(input) }
    return input.on
      ? api.request.post('/api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/on', options)
      : api.request.post('/api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/off', options)
  }
  return useRowChange<Switching, Switched>(
    request,
    (row, { environment, on }, back) => switched(row, environment, on !== back),
    (input) => switchOne(at(input), input, () => api.send(request(input))),
    ({ project, name, environment, on, adds }, done) =>
      toast.success(`${name} is ${on ? 'on' : 'off'} in ${environment}${done.added.size > 0 ? ", with the project's default strategy" : ''}`, {
        undo: async () => {
          const back = { project, name, environment, on: !on }
          await undoOne(at(back), on, done, () => api.send(request(back)))
          patchRows(client, [name], (row) => switched(row, environment, !on))
          await invalidate(client, adds ? [...aroundFlags, path] : aroundFlags)
        },
      }),
  )
}

/** Adds a flag to the favorites of the caller, or removes it. */
export function useFavoriteFlag() {
  interface Favorite {
    project: string
    name: string
    favorite: boolean
  }
  const request = ({ project, name, favorite }: Favorite): ApiRequest => {
    const options = { path: { projectId: project, featureName: name } }
    return favorite
      ? api.request.post('/api/admin/projects/{projectId}/features/{featureName}/favorites', options)
      : api.request.delete('/api/admin/projects/{projectId}/features/{featureName}/favorites', options)
  }
  return useRowChange<Favorite, unknown>(
    request,
    (row, { favorite }, back) => ({ ...row, favorite: favorite !== back }),
    (input) => api.send(request(input)),
  )
}
