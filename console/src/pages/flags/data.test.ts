import { expect, test } from 'vitest'
import { apiKey, invalidate } from '../../api'
import { newQueryClient } from '../../api/query'
import { aroundFlags } from './data'

test('a switch does not read the overview of the project again, which counts flags', async () => {
  const client = newQueryClient()
  const path = { projectId: 'shop' }
  const overview = apiKey('/api/admin/projects/{projectId}/overview', { path })
  const insights = apiKey('/api/admin/projects/{projectId}/insights', { path })
  for (const key of [overview, insights]) client.setQueryData(key, {})
  await invalidate(client, aroundFlags)
  expect(client.getQueryState(overview)?.isInvalidated).toBe(false)
  expect(client.getQueryState(insights)?.isInvalidated).toBe(true)
})
