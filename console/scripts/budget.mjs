// Checks what a browser loads for the first page: the index and its files, with the font. The API adds its requests, which e2e/first.spec.ts counts.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { dist } from './dist.mjs'

const limit = 250 * 1024
const mostFiles = 8

const index = readFileSync(join(dist, 'index.html'), 'utf8')
const files = ['index.html', ...[...index.matchAll(/(?:src|href)="\/([^"]+)"/g)].map(([, file]) => file)]

let total = 0
console.log('First page, as it is sent:')
for (const file of files) {
  const size = statSync(join(dist, file.endsWith('.woff2') ? file : `${file}.gz`)).size
  total += size
  console.log(`  ${(size / 1024).toFixed(1).padStart(7)} KB  ${file}`)
}
console.log(`  ${(total / 1024).toFixed(1).padStart(7)} KB  of ${limit / 1024} KB in ${files.length} of ${mostFiles} files`)
if (total > limit || files.length > mostFiles) {
  console.error('The first page is above its budget: load what it does not need with lazyRouteComponent or import().')
  process.exit(1)
}
