import type { ApiRequest, Schema } from '../api/client'

/** A change of a change request: an action with the body of the request that would make the change directly. */
export type Change = Pick<Schema<'ChangeRequest'>, 'feature' | 'action' | 'payload'>

/** What a request changes of what change requests protect. */
export interface Guarded {
  project: string
  /** Absent for what concerns all environments, such as archiving a flag. */
  environment?: string
  changes: Change[]
  /** It only switches flags off, which some environments allow without a change request. */
  off?: boolean
}

const project = '/api/admin/projects/{projectId}'
const feature = `${project}/features/{featureName}`
const bulk = `${project}/bulk_features/environments/{environment}`

/** The changes that a request makes, undefined if change requests do not protect what it changes. */
export function guardedOf({ method, path, options }: ApiRequest): Guarded | undefined {
  const parameters = options.path as Record<string, string>
  const body = options.body as Record<string, unknown> | undefined
  const one = (action: Change['action'], payload?: unknown): Guarded => ({
    project: parameters.projectId!,
    environment: parameters.environment,
    changes: [{ feature: parameters.featureName!, action, ...(payload === undefined ? {} : { payload }) }],
  })
  const many = (action: Change['action'], payload?: unknown): Guarded => ({
    ...one(action, payload),
    changes: (body!.features as string[]).map((name) => ({ ...one(action, payload).changes[0]!, feature: name })),
  })
  switch (`${method} ${path}`) {
    case `post ${feature}/environments/{environment}/on`:
      return one('updateEnabled', { enabled: true })
    case `post ${feature}/environments/{environment}/off`:
      return { ...one('updateEnabled', { enabled: false }), off: true }
    case `post ${feature}/environments/{environment}/strategies`:
      return one('addStrategy', { ...body, sortOrder: undefined }) // a request adds strategies as the last ones
    case `put ${feature}/environments/{environment}/strategies/{strategyId}`:
      return one('updateStrategy', { id: parameters.strategyId, ...body })
    case `delete ${feature}/environments/{environment}/strategies/{strategyId}`:
      return one('deleteStrategy', { id: parameters.strategyId })
    case `post ${feature}/environments/{environment}/strategies/set-sort-order`:
      return one('reorderStrategy', body)
    case `put ${feature}/environments/{environment}/variants`:
      return one('patchVariant', { variants: body })
    case `post ${feature}/environments/{environment}/release-plans`:
      return one('addReleasePlan', body)
    case `delete ${feature}/environments/{environment}/release-plans/{planId}`:
      return one('deleteReleasePlan', { planId: parameters.planId })
    case `post ${feature}/environments/{environment}/release-plans/{planId}/milestones/{milestoneId}/start`:
      return one('startMilestone', { planId: parameters.planId, milestoneId: parameters.milestoneId })
    case `post ${feature}/environments/{environment}/progressions/{planId}/resume`:
      return one('resumeMilestoneProgression', { planId: parameters.planId })
    case `post ${feature}/dependencies`:
      return one('addDependency', body)
    case `delete ${feature}/dependencies/{parent}`:
      return one('deleteDependency', { feature: parameters.parent })
    case `delete ${feature}`:
      return one('archiveFeature')
    case `post ${project}/archive`:
      return many('archiveFeature')
    case `post ${bulk}/on`:
      return many('updateEnabled', { enabled: true })
    case `post ${bulk}/off`:
      return { ...many('updateEnabled', { enabled: false }), off: true }
    default:
      return undefined
  }
}
