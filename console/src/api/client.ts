// The client of the API of Guidon: fetch with types of infra/openapi.json, errors as ApiError, and versions for If-Match.
import { ApiError, OfflineError, type ErrorDetail } from './errors'
import { setReachable } from './reachable'
import type { components, paths } from './schema'

/** A schema of the API description, for example Schema<'Project'>. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name]

type Method = 'get' | 'put' | 'post' | 'patch' | 'delete'

/** The paths of the API that know a method. */
export type PathsWith<M extends Method> = {
  [P in keyof paths]: paths[P] extends { [K in M]: { responses: unknown } } ? P : never
}[keyof paths]

type Operation<P extends keyof paths, M extends Method> = M extends keyof paths[P] ? paths[P][M] : never

type Json<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : undefined

/** The body of the successful response of an operation. */
export type Result<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { responses: infer R } ? { [S in keyof R & (200 | 201 | 202 | 204)]: Json<R[S]> }[keyof R & (200 | 201 | 202 | 204)] : never

type PathOption<Op> = Op extends { parameters: { path: infer Path } } ? { path: Path } : { path?: undefined }
type QueryOption<Op> = Op extends { parameters: { query?: infer Query } } ? { query?: Query } : { query?: undefined }
type BodyOption<Op> = Op extends { requestBody: { content: { 'application/json': infer Body } } }
  ? { body: Body }
  : Op extends { requestBody?: { content: { 'application/json': infer Body } } }
    ? { body?: Body }
    : { body?: undefined }

/** Options that every request takes. */
export interface RequestOptions {
  /** The version (ETag) that was read: the server returns 412 if it has changed since. */
  ifMatch?: string | null
  signal?: AbortSignal
}

/** Parameters and body of an operation. */
export type Options<P extends keyof paths, M extends Method> = PathOption<Operation<P, M>> &
  QueryOption<Operation<P, M>> &
  BodyOption<Operation<P, M>> &
  RequestOptions

type Args<P extends keyof paths, M extends Method> = Record<never, never> extends Options<P, M> ? [options?: Options<P, M>] : [options: Options<P, M>]

/** A body with the version for If-Match, null if the server named none. */
export interface Versioned<Body> {
  body: Body
  etag: string | null
}

let onUnauthenticated = () => {}

/** Sets what happens when a session has ended. main.tsx leads to the sign-in page. */
export function setUnauthenticated(handler: () => void) {
  onUnauthenticated = handler
}

/** Puts parameters into a path of the API description: ('/a/{b}', {b: 'c/d'}) is '/a/c%2Fd'. */
export function fillPath(path: string, parameters: Record<string, unknown> = {}): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = parameters[name]
    if (value === undefined || value === '') throw new Error(`the path ${path} needs the parameter ${name}`)
    return encodeURIComponent(String(value))
  })
}

function queryString(query: Record<string, unknown> = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === '') continue
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, String(one))
  }
  const text = parameters.toString()
  return text ? `?${text}` : ''
}

interface RawOptions extends RequestOptions {
  path?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
  /** Do not lead to the sign-in page on 401. */
  quiet?: boolean
}

/** A request as a value: a form shows it as a command, and sends it. */
export interface ApiRequest<Body = unknown> {
  method: string
  path: string
  options: RawOptions
  /** Never set: it has the type of the response. */
  response?: Body
}

let breakGlass: (request: ApiRequest) => string | undefined = () => undefined

/** Sets how a request gets the reason of an emergency, which it sends as Break-Glass. requests/drafts knows the reasons. */
export function setBreakGlass(reasonOf: typeof breakGlass) {
  breakGlass = reasonOf
}

/** What is sent for a request: send sends it, and a command shows it. */
export function wireOf(request: ApiRequest) {
  const { method, path, options } = request
  const headers: Record<string, string> = {}
  const reason = method.toUpperCase() === 'GET' ? undefined : breakGlass(request)
  if (reason) headers['Break-Glass'] = reason
  if (options.ifMatch) headers['If-Match'] = options.ifMatch
  if (options.body !== undefined) headers['Content-Type'] = 'application/json'
  return { method: method.toUpperCase(), url: fillPath(path, options.path) + queryString(options.query), headers, body: options.body }
}

/** Sends a request to any path, also to those that the API description lacks (/auth/…). Prefer `api`. */
export async function send<Body>(method: string, path: string, options: RawOptions = {}): Promise<Versioned<Body>> {
  const wire = wireOf({ method, path, options })
  const headers: Record<string, string> = { ...wire.headers, Accept: 'application/json' }
  if (wire.method !== 'GET') headers['X-Guidon-Console'] = '1'
  if (headers['Break-Glass']) headers['Break-Glass'] = bytesOf(headers['Break-Glass'])
  let response: Response
  try {
    response = await fetch(wire.url, {
      method: wire.method,
      headers,
      body: wire.body === undefined ? undefined : JSON.stringify(wire.body),
      signal: options.signal,
      credentials: 'same-origin',
    })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    setReachable(false)
    throw new OfflineError()
  }
  setReachable(true)
  if (!response.ok) {
    const error = await apiError(response)
    if (response.status === 401 && !options.quiet) onUnauthenticated()
    throw error
  }
  const text = response.status === 204 ? '' : await response.text()
  const isJson = response.headers.get('Content-Type')?.includes('json') ?? false
  return { body: (text && isJson ? JSON.parse(text) : text || undefined) as Body, etag: response.headers.get('ETag') }
}

// The UTF-8 bytes of a text, each as a character, which is what fetch takes for a header.
const bytesOf = (text: string) => String.fromCharCode(...new TextEncoder().encode(text))

async function apiError(response: Response): Promise<ApiError> {
  try {
    const body = (await response.json()) as { id?: string; name?: string; message?: string; details?: ErrorDetail[] }
    return new ApiError(response.status, body.name ?? 'Error', body.message ?? `the server returned ${response.status}`, body.details ?? [], body.id)
  } catch {
    return new ApiError(response.status, 'Error', `The server returned ${response.status} without an explanation.`, [])
  }
}

function call<M extends Method>(method: M) {
  return async <P extends PathsWith<M>>(path: P, ...args: Args<P, M>): Promise<Result<P, M>> =>
    (await send<Result<P, M>>(method, path, (args as unknown[])[0] as RawOptions)).body
}

function callVersioned<M extends Method>(method: M) {
  return <P extends PathsWith<M>>(path: P, ...args: Args<P, M>): Promise<Versioned<Result<P, M>>> =>
    send<Result<P, M>>(method, path, (args as unknown[])[0] as RawOptions)
}

function requestBy<M extends Method>(method: M) {
  return <P extends PathsWith<M>>(path: P, ...args: Args<P, M>): ApiRequest<Result<P, M>> => ({
    method,
    path,
    options: ((args as unknown[])[0] ?? {}) as RawOptions,
  })
}

/** The API, typed: api.get('/api/admin/projects/{projectId}', { path: { projectId } }). */
export const api = {
  get: call('get'),
  post: call('post'),
  put: call('put'),
  patch: call('patch'),
  delete: call('delete'),
  /** Like get, and with the ETag of what was read. */
  getVersioned: callVersioned('get'),
  /** Requests as values, for forms that also show them, and for drafts: api.request.post('/api/admin/segments', { body }). */
  request: { post: requestBy('post'), put: requestBy('put'), delete: requestBy('delete') },
  /** Sends such a request. */
  send: async <Body>({ method, path, options }: ApiRequest<Body>): Promise<Body> => (await send<Body>(method, path, options)).body,
}
