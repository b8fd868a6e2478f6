import { expect, it } from 'vitest'
import { exportName } from './exporting'
import { importEffect, importParts, maxImportBytes, placeOf, readImport } from './importfile'
import type { FlagRow } from './rows'

it('reads an export', () => {
  const { data } = readImport('{"features": [{"name": "a"}], "featureStrategies": [{"featureName": "a", "name": "default"}], "segments": []}')
  expect(importParts(data!).map(({ noun, count }) => [noun, count])).toEqual([
    ['flag', 1],
    ['strategy', 1],
  ])
})

it('reads a file with a byte order mark', () => expect(readImport('\uFEFF{"features": [{"name": "a"}]}').data?.features).toHaveLength(1))

it.each([
  ['{', /^This is not JSON/],
  ['null', /no list "features"/],
  ['{"features": {}}', /no list "features"/],
  ['{"features": []}', /is empty/],
  [JSON.stringify({ features: [{ name: 'a', description: 'x'.repeat(maxImportBytes) }] }), /larger than the 4 MiB/],
])('says why %.20s cannot be imported', (text, want) => expect(readImport(text).error).toMatch(want))

it('names the flag of an error', () => {
  const data = { features: [{ name: 'a' }, { name: 'b' }], featureTags: [{ featureName: 'a', tagType: 'simple', tagValue: 'x' }] }
  expect(placeOf('/data/features/1/name', data)).toBe('b (features/1/name)')
  expect(placeOf('/data/featureTags/0/tagType', data)).toBe('a (featureTags/0/tagType)')
  expect(placeOf('/data/features/9', data)).toBe('features/9')
  expect(placeOf('/environment', data)).toBe('environment')
})

it('foresees which flags an import switches, and which of them others can depend on', () => {
  const data = {
    features: ['new', 'off', 'on', 'same'].map((name) => ({ name })),
    featureEnvironments: ['new', 'off', 'on', 'same'].map((featureName) => ({ featureName, enabled: featureName !== 'on' })),
  } as unknown as Parameters<typeof importEffect>[0]
  const row = (name: string, enabled: boolean) => ({ name, environments: [{ name: 'production', enabled }] }) as FlagRow
  expect(importEffect(data, [row('off', false), row('on', true), row('same', true)], 'production')).toEqual({
    switchedOn: ['new', 'off'],
    switchedOff: ['on'],
    known: ['off', 'on'],
    stayOn: ['same'],
  })
})

it('names the file of an export', () => {
  expect(exportName('simple:a/b', 'development', new Date('2026-01-31T10:00:00Z'))).toBe('guidon-simple-a-b-development-2026-01-31.json')
})
