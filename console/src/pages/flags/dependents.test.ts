import { expect, test } from 'vitest'
import { dependentsIn } from './dependents'

test('flags that are switched themselves, and those that depend on two of them, are named once or not at all', () => {
  const parents = [{ children: ['banner', 'chosen'] }, { children: ['banner', 'footer'] }]
  expect(dependentsIn(parents, ['shop'], ['cart', 'chosen'])).toEqual({ names: ['banner', 'footer'], unread: ['shop'] })
})
