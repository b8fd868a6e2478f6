import { expect, test } from 'vitest'
import { api } from '../api'
import { environmentPath, flagPath } from '../pages/flag/data'
import { plansPath } from '../pages/flag/plan/data'
import { guardedOf } from './changes'

const path = { projectId: 'shop', featureName: 'checkout', environment: 'production' }
const flag = { projectId: 'shop', featureName: 'checkout' }

test.each([
  [
    'adding a release plan',
    api.request.post(plansPath, { path, body: { templateId: 't', existing: 'replace' } }),
    'addReleasePlan',
    { templateId: 't', existing: 'replace' },
  ],
  [
    'starting a milestone',
    api.request.post(`${plansPath}/{planId}/milestones/{milestoneId}/start`, { path: { ...path, planId: 'p', milestoneId: 'm' }, ifMatch: '"3"' } as never),
    'startMilestone',
    { planId: 'p', milestoneId: 'm' },
  ],
  [
    'resuming a release plan',
    api.request.post(`${environmentPath}/progressions/{planId}/resume`, { path: { ...path, planId: 'p' } }),
    'resumeMilestoneProgression',
    { planId: 'p' },
  ],
  ['deleting a release plan', api.request.delete(`${plansPath}/{planId}`, { path: { ...path, planId: 'p' } }), 'deleteReleasePlan', { planId: 'p' }],
  ['switching on', api.request.post(`${environmentPath}/on`, { path }), 'updateEnabled', { enabled: true }],
  ['switching off', api.request.post(`${environmentPath}/off`, { path }), 'updateEnabled', { enabled: false }],
  [
    'adding a strategy',
    api.request.post(`${environmentPath}/strategies`, { path, body: { name: 'default', sortOrder: 1 } }),
    'addStrategy',
    { name: 'default', sortOrder: undefined },
  ],
  [
    'changing a strategy',
    api.request.put(`${environmentPath}/strategies/{strategyId}`, { path: { ...path, strategyId: 'a' }, body: { name: 'default', title: 'All' } }),
    'updateStrategy',
    { id: 'a', name: 'default', title: 'All' },
  ],
  [
    'removing a strategy',
    api.request.delete(`${environmentPath}/strategies/{strategyId}`, { path: { ...path, strategyId: 'a' } }),
    'deleteStrategy',
    { id: 'a' },
  ],
  [
    'reordering strategies',
    api.request.post(`${environmentPath}/strategies/set-sort-order`, { path, body: [{ id: 'a', sortOrder: 1 }] }),
    'reorderStrategy',
    [{ id: 'a', sortOrder: 1 }],
  ],
  ['changing variants', api.request.put(`${environmentPath}/variants`, { path, body: [] }), 'patchVariant', { variants: [] }],
])('%s is a change of the environment', (_, request, action, payload) => {
  expect(guardedOf(request)).toMatchObject({ project: 'shop', environment: 'production', changes: [{ feature: 'checkout', action, payload }] })
})

test.each([
  ['adding a parent', api.request.post(`${flagPath}/dependencies`, { path: flag, body: { feature: 'parent' } }), 'addDependency', { feature: 'parent' }],
  [
    'removing a parent',
    api.request.delete(`${flagPath}/dependencies/{parent}`, { path: { ...flag, parent: 'parent' } }),
    'deleteDependency',
    { feature: 'parent' },
  ],
  ['archiving', api.request.delete(flagPath, { path: flag }), 'archiveFeature', undefined],
])('%s is a change in all environments', (_, request, action, payload) => {
  expect(guardedOf(request)).toEqual({
    project: 'shop',
    environment: undefined,
    changes: [{ feature: 'checkout', action, ...(payload === undefined ? {} : { payload }) }],
  })
})

test('a change of many flags has a change for each', () => {
  const request = api.request.post('/api/admin/projects/{projectId}/bulk_features/environments/{environment}/off', {
    path: { projectId: 'shop', environment: 'production' },
    body: { features: ['a', 'b'] },
  })
  const off = { action: 'updateEnabled', payload: { enabled: false } }
  expect(guardedOf(request)).toEqual({
    project: 'shop',
    environment: 'production',
    off: true,
    changes: [
      { feature: 'a', ...off },
      { feature: 'b', ...off },
    ],
  })
})

test('what applications do not see is not a change for a request', () => {
  expect(guardedOf(api.request.put(flagPath, { path: flag, body: { description: 'What it is for' } }))).toBeUndefined()
})
