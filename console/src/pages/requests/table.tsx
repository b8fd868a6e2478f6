import { Link } from '@tanstack/react-router'
import { actorName, useMe } from '../../api'
import { stateKind, titleOf, type RequestRow } from '../../requests/data'
import { Badge, DateTime, Table, type Column } from '../../ui'
import { EnvironmentName } from '../../ui/environmentname'
import { ProjectName } from '../../ui/projectname'
import type { ReactNode } from 'react'

type Row = Omit<RequestRow, 'actionable'>

interface RequestTableProps {
  label: string
  requests: readonly Row[]
  withProject?: boolean
  loading?: boolean
  empty: ReactNode
}

const shownNames = 3

/** A list of change requests. */
export function RequestTable({ label, requests, withProject, loading, empty }: RequestTableProps) {
  const me = useMe().user?.id
  const columns: Column<Row>[] = [
    {
      id: 'title',
      header: 'Change request',
      cell: (one) => (
        <div className="request-cell">
          <Link to="/projects/$projectId/change-requests/$requestId" params={{ projectId: one.project, requestId: String(one.id) }} className="strong break">
            {titleOf(one)}
          </Link>
          <p className="soft small break request-what">
            #{one.id}
            {one.title && ` · ${[...one.features, ...one.segments].slice(0, shownNames).join(', ')}`}
          </p>
        </div>
      ),
    },
    {
      id: 'state',
      header: 'State',
      width: '160px',
      cell: (one) => (
        <span className="row">
          <Badge kind={stateKind(one.state)}>{one.state}</Badge>
          {one.state === 'In review' && (
            <span className="soft small number">
              {one.approvals} of {one.minApprovals}
            </span>
          )}
          {one.state === 'In review' && me !== undefined && one.reviewers.includes(me) && <span className="soft small">You were asked</span>}
        </span>
      ),
    },
    {
      id: 'environment',
      header: 'Environment',
      width: '170px',
      cell: (one) => (
        <span className="row">
          <EnvironmentName name={one.environment} />
        </span>
      ),
    },
    ...(withProject
      ? [
          {
            id: 'project',
            header: 'Project',
            width: '130px',
            cell: (one: Row) => <ProjectName id={one.project} />,
          },
        ]
      : []),
    {
      id: 'created',
      header: 'Created',
      width: '180px',
      cell: (one) => (
        <span>
          <span className="break">{actorName(one.createdBy)}</span>,{' '}
          <span className="soft">
            <DateTime value={one.createdAt} />
          </span>
        </span>
      ),
    },
  ]
  return (
    <Table
      cards
      label={label}
      columns={columns}
      rows={requests}
      rowKey={(one) => one.id}
      minWidth={withProject ? '860px' : '720px'}
      loading={loading}
      empty={empty}
    />
  )
}
