import { useQueries, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { apiQuery, type Schema } from '../../api'
import { Loaded, Section, Table, number, type Column } from '../../ui'
import { cleanUpReason, everyoneReason, isForEveryone, mayBeForEveryone } from './cleanup'
import { nameColumn, usageColumns } from './flagcolumns'

type Row = Schema<'ListedFeature'>

const shownFlags = 50
/** Flags of which the strategies are read. */
const readFlags = 20

/** The flags that can be removed from the code, each with the reason. */
export function CleanUp({ projectId }: { projectId: string }) {
  const list = useQuery(apiQuery('/api/admin/projects/{projectId}/features', { path: { projectId } }))
  const types = useQuery({ ...apiQuery('/api/admin/feature-types'), staleTime: Infinity })
  return (
    <Section
      title="Flags to clean up"
      description="Unused for 30 days, on for everyone for 30 days, older than flags of their type should become, completed, or marked as stale."
    >
      <Loaded query={list} lines={3}>
        {({ features }) => (
          <Loaded query={types} lines={3}>
            {(data) => (
              <Suggestions projectId={projectId} rows={features} lifetimes={new Map(data.types.map(({ id, lifetimeDays }) => [id as string, lifetimeDays]))} />
            )}
          </Loaded>
        )}
      </Loaded>
    </Section>
  )
}

interface SuggestionsProps {
  projectId: string
  rows: readonly Row[]
  lifetimes: ReadonlyMap<string, number | null>
}

function Suggestions({ projectId, rows, lifetimes }: SuggestionsProps) {
  const [now] = useState(() => new Date())
  const reasons = new Map(rows.map((row) => [row.name, cleanUpReason(row, lifetimes, now)]))
  const candidates = rows.filter((row) => !reasons.get(row.name) && mayBeForEveryone(row, lifetimes, now)).slice(0, readFlags)
  const flags = useQueries({
    queries: candidates.map(({ name }) => apiQuery('/api/admin/projects/{projectId}/features/{featureName}', { path: { projectId, featureName: name } })),
  })
  const everyone = flags.flatMap(({ data }) => (data && isForEveryone(data) ? [data.name] : []))
  const latest = useQueries({
    queries: everyone.map((name) => apiQuery('/api/admin/events/{featureName}', { path: { featureName: name }, query: { limit: '1' } })),
  })
  everyone.forEach((name, index) => {
    const changed = latest[index]?.data?.events[0]?.createdAt
    if (changed) reasons.set(name, everyoneReason(changed, now))
  })
  const found = rows.filter((row) => reasons.get(row.name))
  const columns: Column<Row>[] = [nameColumn(projectId), { id: 'reason', header: 'Why', cell: ({ name }) => reasons.get(name) }, ...usageColumns<Row>()]
  if (found.length === 0) return <p className="soft">Nothing to clean up.</p>
  return (
    <>
      <Table label="Flags to clean up" columns={columns} rows={found.slice(0, shownFlags)} rowKey={({ name }) => name} />
      {found.length > shownFlags && (
        <p className="soft small">
          The first {number(shownFlags)} of {number(found.length)} flags.
        </p>
      )}
    </>
  )
}
