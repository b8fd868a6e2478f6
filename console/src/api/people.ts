// How people, service accounts and tokens are called, on every page.
import type { Schema } from './client'

interface Account {
  id?: number
  name?: string | null
  username?: string | null
  email?: string | null
}

/** The name of a person or service account: the one that people know, else the user name, else the email address. */
export const accountName = ({ id, name, username, email }: Account): string => name || username || email || `User ${id}`

/** Who did something: tokens and service accounts are told apart from people. */
export function actorName(actor: Account & { serviceAccount?: boolean }): string {
  const kind = (actor.id ?? 0) < 0 ? ' (API token)' : actor.serviceAccount ? ' (service account)' : ''
  return accountName(actor) + kind
}

type Event = Pick<Schema<'LoggedEvent'>, 'createdBy' | 'createdByName' | 'createdByServiceAccount' | 'createdByUserId'>

/** Who caused an event. */
export const actorOf = (event: Event): string =>
  actorName({ id: event.createdByUserId ?? 0, name: event.createdByName, username: event.createdBy, serviceAccount: event.createdByServiceAccount })
