// Writes licences.txt into the built console: the name, version and licence text of every npm package that it can contain. It fails
// if a package has a licence that is not in allowed.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { dist } from './dist.mjs'

const allowed = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'Unlicense'])

const web = fileURLToPath(new URL('..', import.meta.url))
const lock = JSON.parse(readFileSync(join(web, 'package-lock.json'), 'utf8'))
const refused = []
const parts = ['The web console of Guidon contains these packages.']
for (const [path, locked] of Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1))) {
  const folder = join(web, path)
  if (path === '' || locked.dev || !existsSync(folder)) continue // not installed: an optional package of another platform
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (!allowed.has(license)) refused.push(`${name} ${version}: ${license}`)
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)(\.(md|txt))?$/i.test(entry))
  const text = file ? readFileSync(join(folder, file), 'utf8').trim() : '(The package has no licence file.)'
  parts.push(`${name} ${version}\nLicence: ${license}\n\n${text}`)
}
parts.push(`Inter 4.001, a subset (the font)\nLicence: OFL-1.1\n\n${readFileSync(join(web, 'src/ui/font/LICENSE.txt'), 'utf8').trim()}`)
if (refused.length > 0) {
  console.error(`These packages have a licence that is not allowed (scripts/licences.mjs):\n${refused.join('\n')}`)
  process.exit(1)
}
writeFileSync(join(dist, 'licences.txt'), `${parts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`)
console.log(`licences of ${parts.length - 2} packages and the font`)
