import { Link } from '@tanstack/react-router'
import { DateTime, usesNoted, words, type Column } from '../../ui'
import { enabledIn, lastSeen, type Archivable } from './restore'

/** The name of a flag, as a link to it. */
export function nameColumn<Row extends { name: string }>(projectId: string): Column<Row> {
  return {
    id: 'name',
    header: 'Flag',
    cell: ({ name }) => (
      <Link to="/projects/$projectId/flags/$flag" params={{ projectId, flag: name }} className="break">
        {name}
      </Link>
    ),
  }
}

/** What says whether a flag can go: its type, where it is on, and when it was last used. */
export function usageColumns<Row extends Archivable & { type: string }>(): Column<Row>[] {
  return [
    { id: 'type', header: 'Type', cell: ({ type }) => words(type) },
    { id: 'on', header: 'On in', cell: (row) => enabledIn(row).join(', ') || <span className="soft">Off everywhere</span> },
    { id: 'seen', header: 'Last used', cell: (row) => <DateTime value={lastSeen(row)} noted={usesNoted} /> },
  ]
}
