import { expect, test } from 'vitest'
import { isProduction } from './production'

test('an environment is for production in any case of its type', () => {
  for (const type of ['production', 'Production', 'PRODUCTION']) expect(isProduction({ type })).toBe(true)
  for (const type of ['', 'pre-production', 'development']) expect(isProduction({ type })).toBe(false)
})
