import { useQuery } from '@tanstack/react-query'
import { openRequests, waits } from './data'

/** How many change requests wait for the caller, beside the link to them. */
export default function InboxBadge() {
  const open = useQuery({ ...openRequests(), staleTime: 60_000, retry: false }).data?.changeRequests ?? []
  const count = open.filter(waits).length
  if (count === 0) return null
  return (
    <span className="nav-count number">
      {count}
      <span className="visually-hidden"> waiting for you</span>
    </span>
  )
}
