import { describe, expect, it } from 'vitest'
import { findArchived, findProjects, healthKind, type Project } from './view'

const project = (id: string, change: Partial<Project> = {}): Project => ({
  id,
  name: id,
  createdAt: '2026-03-04T05:06:07.000Z',
  updatedAt: '2026-03-04T05:06:07.000Z',
  defaultStickiness: 'default',
  favorite: false,
  featureCount: 0,
  featureLimit: null,
  featureNaming: { pattern: null, example: null, description: null },
  health: 100,
  linkTemplates: [],
  memberCount: 0,
  mode: 'open',
  staleFeatureCount: 0,
  ...change,
})

const ids = (projects: Project[]) => projects.map(({ id }) => id)

describe('findProjects', () => {
  const all = [project('shop-10'), project('shop-2'), project('billing', { description: 'Invoices of the SHOP' }), project('mobile')]

  it('searches names, ids and descriptions, ignoring case', () => {
    expect(ids(findProjects(all, ' Shop ', { by: 'name', descending: false }))).toEqual(['billing', 'shop-2', 'shop-10'])
  })

  it('lists favorites first in every order', () => {
    const list = [project('a', { featureCount: 9 }), project('b', { favorite: true })]
    expect(ids(findProjects(list, '', { by: 'flags', descending: true }))).toEqual(['b', 'a'])
  })

  it('sorts by health and number of flags, and equal ones by name', () => {
    const list = [project('a', { health: 90, featureCount: 1 }), project('c', { health: 50, featureCount: 3 }), project('b', { health: 50, featureCount: 2 })]
    expect(ids(findProjects(list, '', { by: 'health', descending: false }))).toEqual(['b', 'c', 'a'])
    expect(ids(findProjects(list, '', { by: 'flags', descending: true }))).toEqual(['c', 'b', 'a'])
  })
})

it('colours the health of a project', () => {
  expect([100, 80, 79, 50, 49].map(healthKind)).toEqual(['ok', 'ok', 'warn', 'warn', 'danger'])
})

it('finds archived flags by name and description', () => {
  const flags = [{ name: 'checkout', description: null }, { name: 'banner', description: 'Of the Checkout' }, { name: 'search' }]
  expect(findArchived(flags, ' check').map(({ name }) => name)).toEqual(['checkout', 'banner'])
})
