import { expect, test } from 'vitest'
import { ApiError, OfflineError } from './errors'
import { refreshIn } from './query'

test('a shown query is read again every ten seconds, or as rarely as its data stays fresh', () => {
  expect(refreshIn({ error: null, staleTime: undefined })).toBe(10_000)
  expect(refreshIn({ error: null, staleTime: 0 })).toBe(10_000)
  expect(refreshIn({ error: new OfflineError(), staleTime: 10_000 })).toBe(10_000)
  expect(refreshIn({ error: null, staleTime: 60_000 })).toBe(60_000)
})

test('what a form starts from does not change below it, and an ended session is not asked again', () => {
  expect(refreshIn({ error: null, staleTime: Infinity })).toBe(false)
  expect(refreshIn({ error: new ApiError(401, 'AuthenticationRequired', 'x', []), staleTime: 10_000 })).toBe(false)
})
