import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { api, fillPath, send, setUnauthenticated } from './client'
import { ApiError, OfflineError } from './errors'

// The browser's fetch is replaced, because jsdom has none of its own. The server's responses are tested in e2e.
const fetched = vi.fn<typeof fetch>()
beforeEach(() => vi.stubGlobal('fetch', fetched))
afterEach(() => {
  fetched.mockReset()
  vi.unstubAllGlobals()
  setUnauthenticated(() => {})
})

const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  Promise.resolve(new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers } }))

test('parameters are escaped, and missing ones are an error', () => {
  expect(fillPath('/a/{b}/c/{d}', { b: 'x/y z', d: 1 })).toBe('/a/x%2Fy%20z/c/1')
  expect(() => fillPath('/a/{b}', {})).toThrow('the path /a/{b} needs the parameter b')
  expect(() => fillPath('/a/{b}', { b: '' })).toThrow()
})

test('changes carry the header of the console, the body and the version', async () => {
  fetched.mockReturnValue(json(200, { id: 1 }, { ETag: '"2"' }))
  const { body, etag } = await send('put', '/x', { body: { a: 1 }, ifMatch: '"1"' })
  expect(body).toEqual({ id: 1 })
  expect(etag).toBe('"2"')
  expect(fetched.mock.calls[0]![1]).toMatchObject({
    method: 'PUT',
    body: '{"a":1}',
    headers: { 'X-Guidon-Console': '1', 'If-Match': '"1"', 'Content-Type': 'application/json' },
  })
})

test('reads carry the query and no header of the console', async () => {
  fetched.mockReturnValue(json(200, { projects: [] }))
  await api.get('/api/admin/projects')
  expect(fetched.mock.calls[0]![1]!.headers).not.toHaveProperty('X-Guidon-Console')
  fetched.mockReturnValue(json(200, {}))
  await send('get', '/x', { query: { a: ['1', '2'], b: undefined, c: false } })
  expect(fetched.mock.calls[1]![0]).toBe('/x?a=1&a=2&c=false')
})

test('an error of the server has its message and details', async () => {
  fetched.mockReturnValue(json(400, { id: 'i', name: 'ValidationError', message: '/name: is required', details: [{ message: 'is required', path: '/name' }] }))
  const error = await send('post', '/x').catch((failure: unknown) => failure)
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({ status: 400, name: 'ValidationError', details: [{ path: '/name' }] })
})

test('a body that is no JSON is still an error with its status', async () => {
  fetched.mockResolvedValue(new Response('<html>', { status: 502 }))
  await expect(send('get', '/x')).rejects.toMatchObject({ status: 502 })
})

test('an ended session leads to the sign-in page, unless told to be quiet', async () => {
  const handler = vi.fn()
  setUnauthenticated(handler)
  fetched.mockImplementation(() => json(401, { name: 'AuthenticationRequired', message: 'sign in' }))
  await expect(send('get', '/x', { quiet: true })).rejects.toThrow()
  expect(handler).not.toHaveBeenCalled()
  await expect(send('get', '/x')).rejects.toThrow()
  expect(handler).toHaveBeenCalledOnce()
})

test('a failing network is an OfflineError', async () => {
  fetched.mockRejectedValue(new TypeError('failed to fetch'))
  await expect(send('get', '/x')).rejects.toBeInstanceOf(OfflineError)
})

test('a response without a body', async () => {
  fetched.mockResolvedValue(new Response(null, { status: 204 }))
  expect((await send('delete', '/x')).body).toBeUndefined()
})
