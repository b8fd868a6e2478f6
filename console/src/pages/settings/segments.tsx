import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { apiQuery, useMe, type Schema } from '../../api'
import { describeConstraints } from '../../constraints'
import { Page, useUrlState } from '../../shell'
import { Button, EmptyState, ErrorState, Icons, Pagination, Table, plural, type Column } from '../../ui'
import { FilterBar } from '../../ui/filters'
import { pageOf, pageSize, search } from './paged'
import { canCreateSegment } from './rights'
import './settings.css'

type Segment = Schema<'SegmentRow'>

const columns: Column<Segment>[] = [
  {
    id: 'name',
    header: 'Name',
    width: '30%',
    cell: (segment) => (
      <div className="cell-name">
        <Link to="/segments/$id" params={{ id: String(segment.id) }} className="strong break">
          {segment.name}
        </Link>
        {segment.description && <p className="soft small break two-lines">{segment.description}</p>}
      </div>
    ),
  },
  {
    id: 'constraints',
    header: 'Who is in it',
    cell: (segment) =>
      segment.constraints.length === 0 ? (
        <span className="soft">Everyone</span>
      ) : (
        <p className="break two-lines cell-text">{describeConstraints(segment.constraints)}</p>
      ),
  },
  { id: 'project', header: 'Project', cell: (segment) => segment.project ?? <span className="soft">All</span> },
  { id: 'used', header: 'Used in', cell: (segment) => usedIn(segment) },
]

function usedIn({ usedInFeatures, usedInProjects }: Segment) {
  if (!usedInFeatures && !usedInProjects) return <span className="soft">Not used</span>
  return <span className="nowrap">{plural(usedInFeatures ?? 0, 'flag')}</span>
}

/** All segments. */
export default function SegmentsPage() {
  const segments = useQuery(apiQuery('/api/admin/segments'))
  const [view, setView] = useUrlState({ q: '', offset: 0 })
  const found = search(segments.data?.segments ?? [], view.q, (segment) => [segment.name, segment.description, segment.project])
  const shown = pageOf(found, view.offset)
  const create = <CreateButton />
  return (
    <Page title="Segments" description="Groups of users that strategies of many flags share." actions={create}>
      {segments.error ? (
        <ErrorState error={segments.error} onRetry={() => void segments.refetch()} />
      ) : segments.data?.segments.length === 0 ? (
        <EmptyState icon={<Icons.Layers />} title="No segments yet" action={create}>
          Describe a group of users once, for example “country is one of NO or SE”, and add it to the strategies of any flag. A change of the segment applies to
          all of them.
        </EmptyState>
      ) : (
        <div className="stack">
          <FilterBar
            noun="segment"
            search="Search segments"
            filters={[]}
            values={{ q: view.q }}
            onChange={({ q }: { q?: string }) => setView({ q, offset: 0 })}
            shown={found.length}
            total={segments.data?.segments.length}
          />
          <Table
            label="Segments"
            cards
            columns={columns}
            rows={shown.rows}
            rowKey={(segment) => segment.id}
            loading={segments.isPending}
            empty={<EmptyState icon={<Icons.Search />} title="No segment matches" />}
          />
          {found.length > pageSize && (
            <Pagination noun="segments" offset={shown.offset} limit={pageSize} total={found.length} onChange={(offset) => setView({ offset })} />
          )}
        </div>
      )}
    </Page>
  )
}

function CreateButton() {
  const me = useMe()
  const navigate = useNavigate()
  return (
    <Button
      variant="primary"
      icon={<Icons.Plus />}
      disabledReason={canCreateSegment(me).reason}
      onClick={() => void navigate({ to: '/segments/$id', params: { id: 'new' } })}
    >
      Create segment
    </Button>
  )
}
