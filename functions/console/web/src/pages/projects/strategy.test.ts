import { describe, expect, it } from 'vitest'
import type { Schema } from '../../api'
import { describeStrategy, requestWith, valuesOf } from './strategy'

type Strategy = Schema<'DefaultStrategy'>

const strategy = (change: Partial<Strategy> = {}): Strategy => ({
  name: 'flexibleRollout',
  title: null,
  disabled: false,
  sortOrder: 0,
  constraints: [],
  segments: [],
  variants: [],
  parameters: { rollout: '100', stickiness: 'default' },
  ...change,
})

const country = { contextName: 'country', operator: 'IN', values: ['NO'], inverted: false, caseInsensitive: false } as const

describe('describeStrategy', () => {
  it('says who gets a flag', () => {
    expect(describeStrategy(strategy())).toBe('On for everyone.')
    expect(describeStrategy(strategy({ parameters: { rollout: '20', stickiness: 'default' } }))).toBe('On for 20% of users.')
    expect(describeStrategy(strategy({ name: 'default', parameters: {} }))).toBe('On for everyone.')
    expect(describeStrategy(strategy({ name: 'remoteAddress', parameters: {} }))).toBe('Strategy remoteAddress.')
  })

  it('names the title, the constraints and the number of segments', () => {
    const all = strategy({ title: 'Start small', parameters: { rollout: '5', stickiness: 'userId' }, constraints: [{ ...country, values: ['NO'] }], segments: [1, 2] })
    expect(describeStrategy(all)).toBe('Start small: on for 5% of users, by userId, if country is one of NO and they are in 2 segments.')
  })
})

describe('requestWith', () => {
  it('keeps the parameters and variants that the form does not show', () => {
    const variants = [{ name: 'blue' }] as Strategy['variants']
    const before = strategy({ parameters: { rollout: '100', stickiness: 'default', groupId: 'group' }, variants })
    const request = requestWith({ ...valuesOf(before, 'default'), rollout: 30, title: ' Beta ' }, before)
    expect(request).toMatchObject({ title: 'Beta', parameters: { rollout: '30', stickiness: 'default', groupId: 'group' }, variants })
  })

  it('starts anew with another type', () => {
    const before = strategy({ parameters: { rollout: '50', groupId: 'group' } })
    expect(requestWith({ ...valuesOf(before, 'default'), name: 'default' }, before)).toMatchObject({ name: 'default', parameters: {}, variants: [] })
  })

  it('starts with everyone and the stickiness of the project', () => {
    expect(requestWith(valuesOf(undefined, 'tenant'), undefined)).toMatchObject({ name: 'flexibleRollout', title: null, parameters: { rollout: '100', stickiness: 'tenant' } })
  })
})
