// Writes a .gz file beside each text file of the built console, so that the function need not compress.
// The manifest of the build serves the budget check only: it moves out of the folder that is embedded.
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { dist } from './dist.mjs'

const text = new Set(['.js', '.css', '.svg', '.html', '.json'])

const scratch = fileURLToPath(new URL('../node_modules/.cache/', import.meta.url))
mkdirSync(scratch, { recursive: true })
renameSync(join(dist, '.vite/manifest.json'), join(scratch, 'manifest.json'))
rmSync(join(dist, '.vite'), { recursive: true })

for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !text.has(extname(entry.name))) continue
  const file = join(entry.parentPath, entry.name)
  writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }))
}
