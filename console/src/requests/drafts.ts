// Changes in an environment with change requests are added to a draft instead of being made.
import { queryOptions, useQueries, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { api, apiQuery, invalidate, type ApiRequest, type Schema } from '../api'
import { setBreakGlass } from '../api/client'
import { isProduction, plural, toast } from '../ui'
import { guardedOf, type Change } from './changes'
import { draftPath, touchedRequests } from './data'

/** An environment of a project in which change requests are on. */
export interface Protected {
  environment: string
  type: string
  requiredApprovals: number
  /** Not even administrators skip change requests. */
  nobodySkips: boolean
  /** Switching off needs no change request. */
  offAllowed: boolean
}

/** An environment of a project in which flags cannot change now, and why. */
type Frozen = Schema<'Frozen'> & { environment: string }

const configPath = '/api/admin/projects/{projectId}/change-requests/config'

/** The protected environments of a project, production first, and the frozen ones. */
export const protection = (projectId: string) =>
  queryOptions({
    queryKey: [configPath, { projectId }, 'protection'],
    queryFn: async ({ signal }): Promise<{ environments: Protected[]; frozen: Frozen[] }> => {
      const all = await api.get(configPath, { path: { projectId }, signal })
      const frozen = all.flatMap(({ environment, freeze }) => (freeze ? [{ environment, ...freeze }] : []))
      const on = all.filter((one) => one.changeRequestEnabled)
      if (on.length === 0) return { environments: [], frozen }
      const { environments } = await api.get('/api/admin/environments', { signal })
      const protectedOnes = on
        .map(({ environment, type, requiredApprovals }) => {
          const { nobodySkips = false, offAllowed = false } = environments.find((one) => one.name === environment) ?? {}
          return { environment, type, requiredApprovals: requiredApprovals ?? 1, nobodySkips, offAllowed }
        })
        .sort((a, b) => Number(isProduction(b)) - Number(isProduction(a)))
      return { environments: protectedOnes, frozen }
    },
  })

// The environments in which the person has chosen to change directly, until the page is loaded again. In an emergency, with the reason.
const direct = new Map<string, string>()
const listeners = new Set<() => void>()
let version = 0

const keyOf = (project: string, environment: string) => `${project}/${environment}`

/**
 * Chooses whether changes in an environment are made directly, without a change request. In an emergency, an administrator gives the reason,
 * which goes into the log with each change.
 */
export function setDirect(project: string, environment: string, on: boolean, reason = '') {
  if (on) direct.set(keyOf(project, environment), reason)
  else direct.delete(keyOf(project, environment))
  version++
  listeners.forEach((listener) => listener())
}

setBreakGlass(({ path, options }) => {
  const isImport = path.startsWith('/api/admin/features-batch/') // which names project and environment in its body
  const { project: imported, ...named } = ((isImport ? options.body : options.path) ?? {}) as Record<string, string | undefined>
  const { projectId = isImport ? imported : undefined, environment } = named
  // A segment belongs to no project by its path, a change of a flag in all environments to no environment.
  if (projectId === undefined && !path.startsWith('/api/admin/segments/')) return undefined
  return [...direct].find(([key, reason]) => {
    const [project, ...rest] = key.split('/')
    return reason && (projectId ?? project) === project && (environment ?? rest.join('/')) === rest.join('/')
  })?.[1]
})

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The environment in whose draft a change belongs; undefined if the change is made directly. Without a name it concerns all of them. */
export function draftFor(list: readonly Protected[], project: string, environment?: string, off?: boolean): string | undefined {
  const guarded = list.filter((one) => (environment === undefined || one.environment === environment) && !(off && one.offAllowed))
  return guarded.find((one) => !direct.has(keyOf(project, one.environment)))?.environment
}

const none = { environments: [], frozen: [] }

/** What is protected in a project, and whether a change is added to a draft. */
export const useProtection = (project: string) => useProtections([project])(project)

/** The same for several projects, by their ids. */
export function useProtections(projects: readonly string[]) {
  useSyncExternalStore(subscribe, () => version)
  const found = useQueries({ queries: projects.map(protection) })
  return (project: string) => protectionOf(project, found[projects.indexOf(project)]?.data ?? none)
}

function protectionOf(project: string, { environments, frozen }: { environments: Protected[]; frozen: Frozen[] }) {
  return {
    environments,
    frozen,
    of: (environment: string) => environments.find((one) => one.environment === environment),
    isDirect: (environment: string) => direct.has(keyOf(project, environment)),
    /** The reason of an emergency in which an administrator makes changes directly; '' or undefined without one. */
    emergency: (environment: string) => direct.get(keyOf(project, environment)),
    /** Whether a change in an environment is added to a draft; without a name, one of all environments. */
    drafts: (environment?: string, { off }: { off?: boolean } = {}) => draftFor(environments, project, environment, off) !== undefined,
    /** What the button of a form says: 'Add to draft' instead of 'Save strategy'. */
    label: (submit: string, environment?: string) => (draftFor(environments, project, environment) === undefined ? submit : 'Add to draft'),
  }
}

interface Proposal {
  project: string
  environment: string
  changes: Change[]
}

/** The changes of requests for a draft; undefined if they are to be sent as they are. */
export async function proposalOf(client: QueryClient, requests: readonly ApiRequest[]): Promise<Proposal | undefined> {
  const guarded = requests.map(guardedOf)
  const [first] = guarded
  if (!first) return undefined
  const { environments } = await client.fetchQuery(protection(first.project))
  const environment = draftFor(environments, first.project, first.environment, first.off)
  if (environment === undefined) return undefined
  return { project: first.project, environment, changes: guarded.flatMap((one) => one?.changes ?? []) }
}

/** Adds the changes of requests to the draft of their environment. It returns false if they are to be sent as they are. */
export async function propose(client: QueryClient, requests: readonly ApiRequest[]): Promise<boolean> {
  const proposal = await proposalOf(client, requests)
  if (proposal) await addToDraft(client, proposal)
  return proposal !== undefined
}

/** Adds changes to the caller's draft for an environment of a project. */
export async function addToDraft(client: QueryClient, proposal: Proposal) {
  const { project, environment, changes } = proposal
  await api.post(draftPath, { path: { projectId: project, environment }, body: changes })
  // The pages of a project show its drafts.
  if (!location.pathname.startsWith(`/projects/`))
    toast.info(
      `${changes.length === 1 ? 'Added' : `${plural(changes.length, 'change')} added`} to your draft for ${environment}. Nothing has changed there yet.`,
    )
  await invalidate(client, touchedRequests)
}

/** Adds the changes of requests to a draft where that is due, see propose. */
export function useProposal() {
  const client = useQueryClient()
  return (requests: readonly ApiRequest[]) => propose(client, requests)
}

/** How many strategies that use a segment are looked at. The server refuses what is not seen here. */
export const segmentUses = 100

/** Where a segment is used in protected environments, and the one whose draft gets a change of it. */
export function useSegmentProtection(id: number | undefined) {
  useSyncExternalStore(subscribe, () => version)
  const uses = useQuery({
    ...apiQuery('/api/admin/segments/{id}/strategies', { path: { id: id ?? 0 }, query: { limit: String(segmentUses) } }),
    enabled: id !== undefined,
  }).data?.strategies
  const projects = [...new Set((uses ?? []).map((one) => one.projectId))]
  const found = useQueries({ queries: projects.map(protection) })
  const places = projects.flatMap((project, index) =>
    (found[index]?.data?.environments ?? [])
      .filter(({ environment }) => uses?.some((one) => one.projectId === project && one.environment === environment))
      .map(({ environment }) => ({ project, environment })),
  )
  return { places, target: places.find(({ project, environment }) => !direct.has(keyOf(project, environment))) }
}
