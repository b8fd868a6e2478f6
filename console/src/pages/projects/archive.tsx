import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { apiQuery, useMe, type Schema } from '../../api'
import { useUrlState } from '../../shell'
import {
  Button,
  Checkbox,
  DateTime,
  EmptyState,
  ErrorState,
  Icons,
  Pagination,
  SearchField,
  Table,
  plural,
  sortRows,
  words,
  type Column,
  type Sort,
} from '../../ui'
import { maxBulk, useRevive } from './revive'
import { findArchived } from './view'

type Flag = Schema<'ArchivedFeature'>

const pageSize = 50

/** The archived flags of a project, to revive. */
export default function ArchiveTab() {
  const { projectId } = useParams({ from: '/projects/$projectId' })
  const archived = useQuery({ ...apiQuery('/api/admin/archive/features/{projectId}', { path: { projectId } }), placeholderData: keepPreviousData })
  if (archived.error && !archived.data) return <ErrorState error={archived.error} onRetry={() => void archived.refetch()} />
  return <Archived projectId={projectId} all={archived.data?.features ?? []} loading={archived.isPending} />
}

function Archived({ projectId, all, loading }: { projectId: string; all: Flag[]; loading: boolean }) {
  const { can } = useMe()
  const [view, setView] = useUrlState({ q: '', by: 'archivedAt', descending: true as boolean, offset: 0 })
  const [chosen, setChosen] = useState<readonly string[]>([])
  const revive = useRevive(projectId, () => setChosen([]))
  const sort: Sort = { by: view.by, descending: view.descending }
  const found = sortRows(findArchived(all, view.q), sort, (flag, column) => (column === 'name' || column === 'type' ? flag[column] : flag.archivedAt))
  const offset = view.offset < found.length ? view.offset : 0
  const rows = found.slice(offset, offset + pageSize)
  const selected = chosen.filter((name) => all.some((flag) => flag.name === name))
  const reason = can('UPDATE_FEATURE', projectId).reason
  const choose = (names: string[], on: boolean) => setChosen((old) => (on ? [...new Set([...old, ...names])] : old.filter((name) => !names.includes(name))))
  const onPage = rows.map((flag) => flag.name)
  const chosenOnPage = onPage.filter((name) => selected.includes(name))
  const columns: Column<Flag>[] = [
    {
      id: 'chosen',
      header: 'Selected',
      hideHeader: true,
      width: '44px',
      cell: ({ name }) => <Checkbox label={`Select ${name}`} hideLabel checked={selected.includes(name)} onChange={(on) => choose([name], on)} />,
    },
    { id: 'name', header: 'Flag', sortable: true, cell: (flag) => <Name flag={flag} /> },
    { id: 'type', header: 'Type', sortable: true, cell: ({ type }) => words(type) },
    { id: 'archivedAt', header: 'Archived', sortable: true, cell: ({ archivedAt }) => <DateTime value={archivedAt} /> },
    { id: 'createdAt', header: 'Created', cell: ({ createdAt }) => <DateTime value={createdAt} /> },
    {
      id: 'actions',
      header: 'Actions',
      hideHeader: true,
      align: 'right',
      cell: ({ name }) => (
        <Button
          size="small"
          icon={<Icons.Undo />}
          aria-label={`Revive ${name}`}
          disabledReason={reason}
          pending={revive.pending?.some((flag) => flag.name === name)}
          onClick={() => revive.start(all.filter((flag) => flag.name === name))}
        >
          Revive
        </Button>
      ),
    },
  ]
  if (!loading && all.length === 0) return <NoArchived />
  return (
    <>
      <p className="soft">
        Applications no longer get archived flags. A revived flag has its strategies again. The name of an archived flag stays reserved: archived flags cannot
        be deleted.
      </p>
      <div className="row">
        <SearchField label="Search archived flags" value={view.q} onChange={(q) => setView({ q, offset: 0 })} maxLength={100} />
        {rows.length > 0 && (
          <Checkbox
            label="Select this page"
            checked={chosenOnPage.length === onPage.length}
            indeterminate={chosenOnPage.length > 0 && chosenOnPage.length < onPage.length}
            onChange={(on) => choose(onPage, on)}
          />
        )}
        {selected.length > 0 && (
          <Button
            icon={<Icons.Undo />}
            pending={revive.pending?.length === selected.length}
            disabledReason={reason ?? (selected.length > maxBulk ? `At most ${maxBulk} flags can be revived at once.` : undefined)}
            onClick={() => revive.start(all.filter((flag) => selected.includes(flag.name)))}
          >
            Revive {plural(selected.length, 'flag')}
          </Button>
        )}
      </div>
      <Table
        cards
        label="Archived flags"
        columns={columns}
        rows={rows}
        rowKey={({ name }) => name}
        loading={loading}
        sort={sort}
        onSort={(next) => setView({ ...next, offset: 0 })}
        empty={
          <EmptyState icon={<Icons.Search />} title="No archived flag matches">
            No name or description contains “{view.q.trim()}”.
          </EmptyState>
        }
      />
      <Pagination noun="archived flags" offset={offset} limit={pageSize} total={found.length} onChange={(next) => setView({ offset: next }, { push: true })} />
      {revive.question}
    </>
  )
}

function Name({ flag }: { flag: Flag }) {
  return (
    <span className="project-archived">
      <span className="strong break">{flag.name}</span>
      {flag.description && <span className="soft small project-archived-text">{flag.description}</span>}
    </span>
  )
}

function NoArchived() {
  return (
    <EmptyState icon={<Icons.Archive />} title="No archived flags">
      Archive a flag when no application uses it any more. It then appears here, and can be revived.
    </EmptyState>
  )
}
