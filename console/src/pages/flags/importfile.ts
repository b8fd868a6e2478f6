// Reading of files to import, without React.
import type { Schema } from '../../api'
import { isOn, type FlagRow } from './rows'

/** The largest request that the server takes. */
export const maxImportBytes = 4 * 1024 * 1024

/** What a file has, or why it cannot be imported. */
export type ImportFile = { data: Schema<'ImportData'>; error?: undefined } | { data?: undefined; error: string }

/** Reads the text of an export. */
export function readImport(text: string): ImportFile {
  let data: unknown
  try {
    data = JSON.parse(text.replace(/^\uFEFF/, '')) // a byte order mark
  } catch (error) {
    return { error: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` }
  }
  const features = (data as { features?: unknown } | null)?.features
  if (!Array.isArray(features)) return { error: 'This is not an export: it has no list "features".' }
  if (features.length === 0) return { error: 'The list "features" is empty: there is nothing to import.' }
  // The server takes the compact form, without the spaces of the file.
  if (new TextEncoder().encode(JSON.stringify(data)).length > maxImportBytes - 1000) {
    return { error: 'The file is larger than the 4 MiB that one import takes. Use the command guidon import, which sends it in parts.' }
  }
  return { data: data as Schema<'ImportData'> }
}

/** The parts of a file with their number of items: what it has, at a glance. */
export function importParts(data: Schema<'ImportData'>): { noun: string; nouns: string; count: number }[] {
  const parts = [
    { noun: 'flag', nouns: 'flags', count: data.features.length },
    { noun: 'strategy', nouns: 'strategies', count: data.featureStrategies?.length ?? 0 },
    { noun: 'tag', nouns: 'tags', count: data.featureTags?.length ?? 0 },
    { noun: 'segment', nouns: 'segments', count: data.segments?.length ?? 0 },
    { noun: 'context field', nouns: 'context fields', count: data.contextFields?.length ?? 0 },
    { noun: 'dependency', nouns: 'dependencies', count: data.dependencies?.length ?? 0 },
  ]
  return parts.filter(({ count }) => count > 0)
}

/** What an import does in its environment to flags that are on, or will be, by their names. */
export function importEffect(data: Schema<'ImportData'>, rows: readonly FlagRow[], environment: string) {
  const states = new Map(data.featureEnvironments?.map((one) => [one.featureName, one.enabled]))
  const isOnNow = new Set(rows.filter((row) => isOn(row, environment)).map(({ name }) => name))
  const names = data.features.map(({ name }) => name)
  const present = new Set(rows.map(({ name }) => name))
  const switchedOn = names.filter((name) => states.get(name) && !isOnNow.has(name))
  const switchedOff = names.filter((name) => states.get(name) === false && isOnNow.has(name))
  return {
    switchedOn,
    switchedOff,
    /** Those of both that there are already, so that others can depend on them. */
    known: [...switchedOn, ...switchedOff].filter((name) => present.has(name)),
    stayOn: names.filter((name) => states.get(name) !== false && isOnNow.has(name)),
  }
}

/** Where in the file an error of the server is: the flag of /data/features/0/name, with the rest of the path. */
export function placeOf(path: string | undefined, data: Schema<'ImportData'>): string {
  const parts = (path ?? '').split('/').slice(1)
  if (parts[0] !== 'data') return (path ?? '').replace(/^\//, '')
  const [, list = '', index = '', ...rest] = parts
  const item = (data as Record<string, unknown>)[list]
  const entry = Array.isArray(item) ? (item[Number(index)] as { name?: unknown; featureName?: unknown; feature?: unknown } | undefined) : undefined
  const name = list === 'featureStrategies' || list === 'featureTags' || list === 'featureEnvironments' ? entry?.featureName : (entry?.name ?? entry?.feature)
  const at = [list, index, ...rest].filter(Boolean).join('/')
  return typeof name === 'string' && name ? `${name} (${at})` : at
}
