// @vitest-environment node
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { otherClients } from './othersnippets'
import { clients, double, installCommand, runCommand, shellWord, single, tokenVariable } from './snippets'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const guide = readFileSync(`${root}docs/how-to/sdks.md`, 'utf8')
const input = { url: 'https://flags.example.com', flag: 'welcome-banner', appName: 'shop', token: 'default:development.secret' }

// The programs of the guide are tested, those of the console are shorter forms of them.
test.each(clients.map((client) => [client.id, client] as const))('%s uses the names and versions of the guide', (_, client) => {
  for (const { name, version } of client.packages) {
    expect(guide).toContain(name)
    expect(guide).toContain(version)
  }
  const code = client
    .code(input)
    .replace(/(\/\/|#).*$/gm, '')
    .replaceAll('default', '')
  const names = new Set(code.match(/[A-Za-z_]\w{3,}/g))
  for (const own of [tokenVariable, 'flags', 'example', 'development', 'secret']) names.delete(own)
  expect([...names].filter((name) => !guide.includes(name))).toEqual([])
})

test('the SDK for Node.js has the version of the browser tests', () => {
  const { devDependencies } = JSON.parse(readFileSync(`${root}console/package.json`, 'utf8')) as { devDependencies: Record<string, string> }
  expect(clients[0]!.packages[0]).toEqual({ name: 'unleash-client', version: devDependencies['unleash-client'] })
})

test('install commands name the version', () => {
  expect(clients.map(installCommand).slice(0, 3)).toEqual([
    'npm install unleash-client@6.12.1',
    'pip install UnleashClient==6.9.1',
    'go get github.com/Unleash/unleash-go-sdk/v5@v5.1.0',
  ])
})

test('texts are escaped', () => {
  expect(single(`it's "a" \\ b\n`)).toBe(`'it\\'s "a" \\\\ b\\n'`)
  expect(double('a "b"')).toBe('"a \\"b\\""')
  expect(shellWord(`*:a'b`)).toBe(`'*:a'\\''b'`)
  expect(runCommand(clients[0]!, '*:development.x')).toBe(`GUIDON_TOKEN='*:development.x' node app.mjs`)
  for (const text of [`'`, `"`, `\\'`, `\\\\"`, `a'b"c\\`]) expect((0, eval)(single(text))).toBe(text)
})

test('other clients are told to be untested, are named in the guide, and have the texts in their program', () => {
  const hostile = { ...input, appName: `it's a "$shop" \\`, flag: 'welcome-banner' }
  expect(otherClients.map(({ id }) => id)).toEqual(['java', 'dotnet', 'php', 'ruby', 'react', 'android', 'ios'])
  for (const client of otherClients) {
    expect(client.tested).toBe(false)
    expect(guide).toContain(client.label)
    expect(client.code(input)).toContain('welcome-banner')
    expect(client.code(hostile)).not.toContain(hostile.appName)
    expect(installCommand(client)).toBe(client.install([]))
    // A program that was tried names the version.
    expect(/\d\.\d+\.\d+/.test(installCommand(client))).toBe(client.ranOnce === true)
  }
  expect(otherClients.find(({ id }) => id === 'android')!.code(hostile)).toContain('\\$shop')
})

test('programs report usage every five minutes, except in apps, which are open for shorter times', () => {
  for (const client of [...clients, ...otherClients])
    expect(/300|5\*time\.Minute|FromMinutes\(5\)/.test(client.code(input))).toBe(client.reports && !['android', 'ios'].includes(client.id))
})

test('tokens of servers are not in the program, those of browsers are', () => {
  for (const client of [...clients, ...otherClients]) expect(client.code(input).includes(input.token)).toBe(client.kind === 'browser')
})
