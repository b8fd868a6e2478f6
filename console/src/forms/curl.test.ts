import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { api, wireOf } from '../api/client'
import { curlOf } from './curl'

// A shell parses the command: what curl would get are its arguments.
function argumentsOf(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`
  const env = { PATH: process.env.PATH, GUIDON_URL: 'https://flags.example.com', GUIDON_TOKEN: 'user:secret' }
  return execFileSync('sh', ['-c', script], { env: env as never, encoding: 'utf8' })
    .split('\0')
    .slice(0, -1)
}

test('the command has the method, the path, the version and the body of the request', () => {
  const command = curlOf(wireOf(api.request.put('/api/admin/segments/{id}', { path: { id: 7 }, body: { name: 'beta', constraints: [] }, ifMatch: 'W/"ab"' })))
  expect(command).not.toContain('secret')
  const parts = argumentsOf(command)
  expect(parts).toEqual([
    ...['-sS', '--fail-with-body', '-X', 'PUT', 'https://flags.example.com/api/admin/segments/7'],
    ...['-H', 'Authorization: user:secret', '-H', 'If-Match: W/"ab"', '-H', 'Content-Type: application/json', '-d', expect.anything()],
  ])
  expect(JSON.parse(parts.at(-1)!)).toEqual({ name: 'beta', constraints: [] })
})

test('no character of a name or a value is special to the shell', () => {
  const nasty = `it's "$(date)" \`date\` $HOME \\ ! *\n;`
  const parts = argumentsOf(
    curlOf(wireOf(api.request.post('/api/admin/projects/{projectId}/features', { path: { projectId: nasty }, body: { name: nasty, type: 'release' } }))),
  )
  expect(decodeURIComponent(parts[4]!)).toBe(`https://flags.example.com/api/admin/projects/${nasty}/features`)
  expect(JSON.parse(parts.at(-1)!)).toEqual({ name: nasty, type: 'release' })
})
