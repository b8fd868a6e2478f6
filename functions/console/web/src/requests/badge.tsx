import { useQuery } from '@tanstack/react-query'
import { useMe } from '../api'
import { openRequests, waitsFor } from './data'

/** How many change requests wait for the caller, beside the link to them. */
export default function InboxBadge() {
  const { user, can } = useMe()
  const open = useQuery({ ...openRequests(), staleTime: 60_000, retry: false }).data?.changeRequests ?? []
  const count = open.filter((one) => waitsFor(one, user?.id, can)).length
  if (count === 0) return null
  return (
    <span className="nav-count number">
      {count}
      <span className="visually-hidden"> waiting for you</span>
    </span>
  )
}
