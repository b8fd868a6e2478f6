import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { apiQuery, useMe, type Schema } from '../../api'
import { describeConstraints } from '../../constraints'
import { Page } from '../../shell'
import { Icons, plural, type Column } from '../../ui'
import { ProjectName } from '../../ui/projectname'
import { Create, List } from './list'
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
  { id: 'project', header: 'Project', cell: (segment) => (segment.project ? <ProjectName id={segment.project} /> : <span className="soft">All</span>) },
  { id: 'used', header: 'Used in', cell: (segment) => usedIn(segment) },
]

function usedIn({ usedInFeatures, usedInProjects }: Segment) {
  if (!usedInFeatures && !usedInProjects) return <span className="soft">Not used</span>
  return <span className="nowrap">{plural(usedInFeatures ?? 0, 'flag')}</span>
}

/** All segments. */
export default function SegmentsPage() {
  const me = useMe()
  const navigate = useNavigate()
  const segments = useQuery(apiQuery('/api/admin/segments'))
  const create = (
    <Create reason={canCreateSegment(me).reason} onClick={() => void navigate({ to: '/segments/$id', params: { id: 'new' } })}>
      Create segment
    </Create>
  )
  return (
    <Page title="Segments" description="Groups of users that strategies of many flags share." actions={create}>
      <List
        noun="segment"
        query={segments}
        rows={segments.data?.segments}
        rowKey={(segment) => segment.id}
        texts={(segment) => [segment.name, segment.description, segment.project]}
        columns={columns}
        icon={<Icons.Layers />}
        empty="Describe a group of users once, for example “country is one of NO or SE”, and add it to the strategies of any flag. A change of the segment applies to all of them."
      />
    </Page>
  )
}
