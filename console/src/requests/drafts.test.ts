import { expect, test } from 'vitest'
import { api, type Schema } from '../api'
import { wireOf } from '../api/client'
import { setDirect } from './drafts'

test('in an emergency, an import and its check have the reason too', () => {
  setDirect('shop', 'production', true, 'Störung')
  const into = (project: string, environment: string) => ({ body: { project, environment, data: {} } as Schema<'ImportRequest'> })
  const reason = (request: Parameters<typeof wireOf>[0]) => wireOf(request).headers['Break-Glass']
  expect(reason(api.request.post('/api/admin/features-batch/import', into('shop', 'production')))).toBe('Störung')
  expect(reason(api.request.post('/api/admin/features-batch/validate', into('shop', 'production')))).toBe('Störung')
  expect(reason(api.request.post('/api/admin/features-batch/import', into('shop', 'development')))).toBeUndefined()
  expect(reason(api.request.post('/api/admin/features-batch/import', into('cafe', 'production')))).toBeUndefined()
  setDirect('shop', 'production', false)
})
