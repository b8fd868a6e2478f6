// Writes a .gz file beside each text file of the built console, so that the function need not compress.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { dist } from './dist.mjs'

const text = new Set(['.js', '.css', '.svg', '.html', '.json'])

for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !text.has(extname(entry.name))) continue
  const file = join(entry.parentPath, entry.name)
  writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }))
}
