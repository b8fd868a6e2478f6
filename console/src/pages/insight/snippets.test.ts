// @vitest-environment node
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { clients, programOf, runCommand, shellWord, tokenVariable } from './snippets'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const guide = readFileSync(`${root}docs/how-to/sdks.md`, 'utf8')
const input = { url: 'https://flags.example.com', flag: 'welcome-banner', app: 'shop', token: 'default:development.secret' }

// The programs of the guide are tested, those of the console are shorter forms of them.
test.each(clients.filter(({ tried }) => tried === 'tests'))('$id uses the names and versions of the guide', (client) => {
  const packages = client.install.split(' ').slice(2)
  expect(packages.length).toBeGreaterThan(0)
  for (const one of packages) for (const part of one.split(/@v?(?=\d)|==/)) expect(guide).toContain(part)
  const code = programOf(client, input)
    .replace(/(\/\/|#).*$/gm, '')
    .replaceAll('default', '')
  const names = new Set(code.match(/[A-Za-z_]\w{3,}/g))
  for (const own of [tokenVariable, 'flags', 'example', 'development', 'secret']) names.delete(own)
  expect([...names].filter((name) => !guide.includes(name))).toEqual([])
})

test('the SDK for Node.js has the version of the browser tests', () => {
  const { devDependencies } = JSON.parse(readFileSync(`${root}console/package.json`, 'utf8')) as { devDependencies: Record<string, string> }
  expect(clients[0]!.install).toBe(`npm install unleash-client@${devDependencies['unleash-client']}`)
})

test('every program has the texts as its language writes them, and the token only in a browser', () => {
  const hostile = { ...input, app: `it's a "$shop" \\` }
  const written = new Map(clients.map((client) => [client.id, programOf(client, hostile)]))
  expect(written.get('node')).toContain(`appName: 'it\\'s a "$shop" \\\\',`)
  expect(written.get('python')).toContain(`app_name="it's a \\"$shop\\" \\\\",`)
  expect(written.get('php')).toContain(`withAppName('it\\'s a "$shop" \\\\')`)
  expect(written.get('android')).toContain(`appName = "it's a \\"\\$shop\\" \\\\")`)
  for (const client of clients) {
    const code = programOf(client, input)
    expect(code).toContain(input.flag)
    expect(code).not.toContain('{{')
    expect(code.includes(input.token)).toBe(client.kind === 'browser')
    // Usage is reported every five minutes, except in apps, which are open for shorter times.
    expect(/300|5\*time\.Minute|FromMinutes\(5\)/.test(code)).toBe(client.reports && !['android', 'ios'].includes(client.id))
  }
})

test('other clients are named in the guide, and one that was tried names its version', () => {
  for (const { label, install, tried } of clients.filter((client) => client.tried !== 'tests')) {
    expect(guide).toContain(label)
    expect(/\d\.\d+\.\d+/.test(install)).toBe(tried === 'once')
  }
})

test('a token is one word of the shell', () => {
  expect(shellWord(`*:a'b`)).toBe(`'*:a'\\''b'`)
  expect(runCommand(clients[0]!, '*:development.x')).toBe(`GUIDON_TOKEN='*:development.x' node app.mjs`)
})
