import { expect, test } from 'vitest'
import { openRequests } from './data'

test('what waits for a person is not hidden by newer requests of others', () => {
  // The most that the server returns at once.
  expect(openRequests().queryKey).toMatchObject([expect.anything(), { limit: '1000' }])
})
