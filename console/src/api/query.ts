// Reading and changing data with TanStack Query. A query key is [path of the API description, parameters].
import { QueryClient, queryOptions, useMutation, useQueryClient, type QueryKey } from '@tanstack/react-query'
import { toast } from '../ui/toasts'
import { api, type ApiRequest, type Options, type PathsWith, type Result, type Versioned } from './client'
import { ApiError, errorText } from './errors'

const retries = 2
const freshFor = 10_000

/**
 * How long until a shown query is read again, in a visible window: ten seconds, so that a page shows what others change. The browser
 * sends the ETag of what it has, and a 304 carries no body. What says that it stays fresh for longer is read as rarely, and what a form
 * starts from (Infinity) never. After a 401 it waits until the person does something.
 */
export function refreshIn({ error, staleTime }: { error: unknown; staleTime: unknown }): number | false {
  if (error instanceof ApiError && error.status === 401) return false
  if (typeof staleTime !== 'number') return freshFor
  return staleTime === Infinity ? false : Math.max(freshFor, staleTime)
}

/** Creates the query client. Reads are repeated twice when the server or the network fails, changes never. */
export function newQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: freshFor,
        refetchInterval: ({ state, observers }) => refreshIn({ error: state.error, staleTime: observers[0]?.options.staleTime }),
        networkMode: 'always',
        refetchOnReconnect: 'always',
        retry: (count, error) => count < retries && !(error instanceof ApiError && error.status < 500),
        retryDelay: (count) => Math.min(500 * 2 ** count, 4000),
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  })
}

type GetArgs<P extends PathsWith<'get'>> = Record<never, never> extends Options<P, 'get'> ? [options?: Options<P, 'get'>] : [options: Options<P, 'get'>]

/** Options of useQuery for a GET: useQuery(apiQuery('/api/admin/segments')). */
export function apiQuery<P extends PathsWith<'get'>>(path: P, ...args: GetArgs<P>) {
  return queryOptions<Result<P, 'get'>>({
    queryKey: keyOf(path, args),
    queryFn: ({ signal }) => (api.get as (path: string, options: object) => Promise<Result<P, 'get'>>)(path, { ...(args as object[])[0], signal }),
  })
}

/** Like apiQuery; the data is {body, etag}. Send the etag as ifMatch with the change. */
export function versionedQuery<P extends PathsWith<'get'>>(path: P, ...args: GetArgs<P>) {
  return queryOptions<Versioned<Result<P, 'get'>>>({
    queryKey: [...keyOf(path, args), 'versioned'],
    queryFn: ({ signal }) =>
      (api.getVersioned as (path: string, options: object) => Promise<Versioned<Result<P, 'get'>>>)(path, { ...(args as object[])[0], signal }),
  })
}

/** The key of apiQuery with the same parameters, to read or set cached data. */
export function apiKey<P extends PathsWith<'get'>>(path: P, ...args: GetArgs<P>): QueryKey {
  return keyOf(path, args)
}

function keyOf(path: string, args: readonly unknown[]): QueryKey {
  const options = (args[0] ?? {}) as { path?: object; query?: object }
  return [path, { ...options.path, ...options.query }]
}

/** A change of cached data that is shown before the server has responded. */
export interface OptimisticUpdate {
  key: QueryKey
  /** Returns the new data. It must not change the old data. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the type is that of the key
  update: (old: any) => unknown
}

/** Options of useChange. */
export interface ChangeOptions<Input, Output> {
  change: (input: Input) => Promise<Output>
  /** The requests of a change of flags: in an environment with change requests they are added to a draft, and `change` is not called. */
  requests?: (input: Input) => ApiRequest[] | Promise<ApiRequest[]>
  /** What follows when the change was added to a draft. onSuccess and the toast are left out then. */
  onDrafted?: () => void
  /** Paths of the API description: every cached read whose path starts with one of them is read again. */
  invalidates?: string[]
  /** Cached data to change at once, and to restore if the server refuses. */
  optimistic?: (input: Input) => OptimisticUpdate[]
  /** Text of the toast after success. */
  success?: string | ((output: Output, input: Input) => string)
  /** Reverts the change: the toast then has a button Undo. */
  undo?: (input: Input, output: Output) => Promise<unknown>
  onSuccess?: (output: Output, input: Input) => void
  /** Set it for forms: useForm shows the error at its fields, and no toast appears. */
  showsErrors?: boolean
}

/** How changes of flags become changes of a draft. requests/drafts does it. */
interface Drafts {
  /** Undefined if the requests are to be sent as they are. */
  proposalOf: (client: QueryClient, requests: readonly ApiRequest[]) => Promise<object | undefined>
  /** Returns false if the requests are to be sent as they are. */
  propose: (client: QueryClient, requests: readonly ApiRequest[]) => Promise<boolean>
}

let loadDrafts: () => Promise<Drafts>

/** Sets how the first change of a flag loads what adds it to a draft. */
export function setDrafts(load: typeof loadDrafts) {
  loadDrafts = load
}

/**
 * A change of data: optimistic if told so, rolled back with the reason of the server, with a toast and Undo.
 *
 *   const archive = useChange({ change: (name: string) => api.delete(…), invalidates: ['/api/admin/projects'],
 *     success: 'Flag archived', undo: (name) => api.post(…) })
 *   <Button onClick={() => archive.mutate(name)} pending={archive.isPending}>Archive</Button>
 */
export function useChange<Input = void, Output = unknown>(options: ChangeOptions<Input, Output>) {
  const client = useQueryClient()
  const refresh = () => invalidate(client, options.invalidates ?? [])
  const drafts = async (input: Input) => options.requests && { ...(await loadDrafts()), requests: await options.requests(input) }
  return useMutation<Output, Error, Input, { drafted: boolean; before: { key: QueryKey; data: unknown }[] }>({
    mutationFn: async (input) => {
      const draft = await drafts(input)
      // Nothing uses the output of a change that was drafted.
      return draft && (await draft.propose(client, draft.requests)) ? (undefined as Output) : options.change(input)
    },
    onMutate: async (input) => {
      const draft = await drafts(input)
      if (draft && (await draft.proposalOf(client, draft.requests))) return { drafted: true, before: [] }
      const before = []
      for (const { key, update } of options.optimistic?.(input) ?? []) {
        await client.cancelQueries({ queryKey: key })
        const data = client.getQueryData(key)
        before.push({ key, data })
        if (data !== undefined) client.setQueryData(key, update(data))
      }
      return { drafted: false, before }
    },
    onError: (error, _input, context) => {
      for (const { key, data } of context?.before ?? []) client.setQueryData(key, data)
      if (!options.showsErrors) toast.error(errorText(error))
    },
    onSuccess: (output, input, { drafted }) => {
      if (drafted) return options.onDrafted?.()
      const text = typeof options.success === 'function' ? options.success(output, input) : options.success
      const undo = options.undo
      if (text) {
        toast.success(
          text,
          undo && {
            undo: async () => {
              await undo(input, output)
              await refresh()
            },
          },
        )
      }
      options.onSuccess?.(output, input)
    },
    onSettled: refresh,
  })
}

/** Reads again what is cached of paths that start with one of the prefixes. */
export function invalidate(client: QueryClient, prefixes: string[]): Promise<void> {
  if (prefixes.length === 0) return Promise.resolve()
  return client.invalidateQueries({
    predicate: (query) => prefixes.some((prefix) => String(query.queryKey[0]).startsWith(prefix)),
  })
}
