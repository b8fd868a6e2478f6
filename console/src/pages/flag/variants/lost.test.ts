import { expect, test } from 'vitest'
import { lostVariants, needing } from './lost'
import { newVariant } from './model'

const variant = (name: string, percent: number | null = null) => ({ ...newVariant('default', name), fixed: percent !== null, percent })
const before = [variant('red', 30), variant('blue'), variant('zero', 0)]

test.each([
  ['nothing', before, []],
  ['a removed variant', [variant('blue'), variant('zero')], ['red']],
  ['a renamed variant', [variant('rot', 30), variant(' blue ')], ['red']],
  ['a variant without weight', [variant('red', 0), variant('blue')], ['red']],
  ['all variants', [], ['red', 'blue']],
])('%s is lost', (_, after, lost) => {
  expect(lostVariants(before, after)).toEqual(lost)
})

test('names the flags that need a variant of their parent', () => {
  const child = (name: string, feature: string, ...variants: string[]) => ({ name, dependencies: [{ feature, enabled: true, variants }] })
  const children = [child('banner', 'shop', 'red', 'blue', 'green'), child('footer', 'shop'), child('header', 'other', 'red')]
  expect(needing(['red', 'blue'], 'shop', children)).toEqual(['banner (red, blue)'])
})
