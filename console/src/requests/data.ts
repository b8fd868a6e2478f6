// Reading change requests, and whom they wait for.
import { apiQuery, type Schema } from '../api'
import { listed, plural } from '../ui/format'

/** A change request. */
export type ChangeRequest = Schema<'Request'>
/** A change that is stored in a change request. */
export type StoredChange = Schema<'Change'>
/** A change request in a list. */
export type RequestRow = Schema<'SearchRow'>

const base = '/api/admin/projects/{projectId}/change-requests'
/** The path that adds changes to the caller's draft. */
export const draftPath = '/api/admin/projects/{projectId}/environments/{environment}/change-requests'
/** The path of one change request. */
export const requestPath = `${base}/{changeRequestId}` as const
const searchPath = '/api/admin/search/change-requests'

/** What is read again after a change of a change request. */
export const touchedRequests = [base, searchPath]

/** The newest change requests of a project. */
export const requestsQuery = (projectId: string) => apiQuery(base, { path: { projectId } })
/** The caller's own change requests that are not closed, with drafts. */
export const pendingQuery = (projectId: string) => ({ ...apiQuery(`${base}/pending`, { path: { projectId } }), staleTime: 60_000 })
/** The open change requests that change a flag. */
export const pendingOfFlag = (projectId: string, featureName: string) => apiQuery(`${base}/pending/{featureName}`, { path: { projectId, featureName } })
/** Open change requests of all projects, as many as the server returns at once. */
export const openRequests = () => apiQuery(searchPath, { query: { state: 'IS:open', limit: '1000' } })
/** A change request with everything. */
export const requestQuery = (projectId: string, id: number) => apiQuery(requestPath, { path: { projectId, changeRequestId: id } })

/** The version of changes and bases that was read, for If-Match. */
export const versionOf = ({ revision }: ChangeRequest) => `"${revision}"`
/** The parameters of paths for a change request. */
export const at = ({ project, id }: Pick<ChangeRequest, 'project' | 'id'>) => ({ projectId: project, changeRequestId: id })

/** Whether a change request is not closed yet. */
export const isOpen = ({ state }: Pick<ChangeRequest, 'state'>) => !['Applied', 'Cancelled', 'Rejected'].includes(state)

/** Whether a change request is a draft of a user. */
export const isDraftOf = ({ state, createdBy }: Pick<ChangeRequest, 'state' | 'createdBy'>, user: number | undefined) =>
  state === 'Draft' && createdBy.id === user

/** How many changes a change request has. */
export const countChanges = ({ features, segments }: Pick<ChangeRequest, 'features' | 'segments'>) =>
  features.reduce((sum, { changes }) => sum + changes.length, 0) + segments.length

/** The flags and segments that have changed below a change request since its changes were made. */
export const conflictsOf = ({ features, segments }: Pick<ChangeRequest, 'features' | 'segments'>) => [
  ...new Set([...features, ...segments].filter(({ conflict }) => conflict).map(({ name }) => name)),
]

/** A change request of a project's list, as the search has it. */
export const rowOf = (one: ChangeRequest): Omit<RequestRow, 'actionable'> => ({
  ...one,
  features: one.features.map(({ name }) => name),
  segments: one.segments.map(({ name }) => name),
  approvals: one.approvals.length,
})

const shownNames = 2

/** The heading of a change request: its title, or what it changes. */
export function titleOf({ id, title, features, segments }: Pick<RequestRow, 'id' | 'title' | 'features' | 'segments'>) {
  const names = [...features, ...segments.map((name) => `segment ${name}`)]
  if (title || names.length === 0) return title || `Change request #${id}`
  const rest = names.length - shownNames
  return `Changes to ${listed(rest > 0 ? [...names.slice(0, shownNames), plural(rest, 'other')] : names)}`
}

/** A change request in a sentence, where its title cannot be mistaken for a part of it. */
export const quotedTitle = ({ id, title }: Pick<ChangeRequest, 'id' | 'title'>) => (title ? `“${title}”` : `Change request #${id}`)

const kinds: Record<string, 'ok' | 'danger' | 'accent'> = {
  'In review': 'accent',
  Approved: 'accent',
  Scheduled: 'accent',
  Applied: 'ok',
  Rejected: 'danger',
}
/** The colour of a state. */
export const stateKind = (state: string) => kinds[state] ?? 'neutral'

/** Whether a change request waits for the caller. What a schedule applies does not. */
export const waits = ({ actionable, schedule }: RequestRow) => actionable && schedule?.status !== 'pending'
