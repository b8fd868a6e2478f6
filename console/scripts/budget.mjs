// Checks what a browser loads for the first page: the entry, the page of projects, and what both import.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { dist } from './dist.mjs'

const limit = 200 * 1024
const firstPages = ['src/pages/projects/list.tsx']
const manifest = JSON.parse(readFileSync(fileURLToPath(new URL('../node_modules/.cache/manifest.json', import.meta.url)), 'utf8'))

const files = new Set()
const seen = new Set()
function add(name) {
  if (seen.has(name)) return
  seen.add(name)
  const chunk = manifest[name]
  if (!chunk) throw new Error(`${name} is not in the manifest of the build`)
  files.add(chunk.file)
  for (const css of chunk.css ?? []) files.add(css)
  for (const imported of chunk.imports ?? []) add(imported)
}
add('index.html')
for (const page of firstPages) add(page)

let total = 0
console.log('First page, gzip:')
for (const file of files) {
  const size = statSync(join(dist, `${file}.gz`)).size
  total += size
  console.log(`  ${(size / 1024).toFixed(1).padStart(7)} KB  ${file}`)
}
console.log(`  ${(total / 1024).toFixed(1).padStart(7)} KB  of ${limit / 1024} KB`)
if (total > limit) {
  console.error('The first page is above its budget: load what it does not need with lazyRouteComponent or import().')
  process.exit(1)
}
