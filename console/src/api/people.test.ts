// @vitest-environment node
import { expect, test } from 'vitest'
import { accountName, actorName, actorOf } from './people'

test('people have the name that others know, else their user name, else their email address', () => {
  expect(accountName({ id: 2, name: 'Anna Berg', username: 'anna', email: 'anna@example.com' })).toBe('Anna Berg')
  expect(accountName({ id: 2, name: '', username: 'anna', email: 'anna@example.com' })).toBe('anna')
  expect(accountName({ id: 2, email: 'anna@example.com' })).toBe('anna@example.com')
  expect(accountName({ id: 2 })).toBe('User 2')
})

test('tokens and service accounts are told apart from people, in requests and in the log', () => {
  expect(actorName({ id: 3, name: 'Build', username: 'ci', serviceAccount: true })).toBe('Build (service account)')
  expect(actorName({ id: -42, username: 'ci' })).toBe('ci (API token)')
  expect(actorName({ id: 3, username: 'ci' })).toBe('ci')
  expect(actorOf({ createdBy: 'anna', createdByName: 'Anna Berg', createdByUserId: 2 })).toBe('Anna Berg')
  expect(actorOf({ createdBy: 'ci', createdByName: 'Build', createdByServiceAccount: true, createdByUserId: 3 })).toBe('Build (service account)')
  expect(actorOf({ createdBy: 'ci', createdByUserId: -42 })).toBe('ci (API token)')
  expect(actorOf({ createdBy: 'init', createdByUserId: null })).toBe('init')
})
