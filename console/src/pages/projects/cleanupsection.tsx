import { useQueries, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { apiQuery, type Schema } from '../../api'
import { Badge, Checkbox, EmptyState, Icons, Info, Loaded, Section, Table, number, type Column } from '../../ui'
import { BulkBar } from '../flags/bulkbar'
import { flagList } from '../flags/data'
import type { FlagRow } from '../flags/rows'
import { cleanUpReason, everyoneReason, isForEveryone, mayBeForEveryone } from './cleanup'
import { nameColumn, usageColumns } from './flagcolumns'

const shownFlags = 100
/** Flags of which the strategies are read. */
const readFlags = 20

/** The flags that can be removed from the code, each with the reason, to archive together. */
export function CleanUp({ projectId }: { projectId: string }) {
  const list = useQuery(flagList(projectId))
  const types = useQuery({ ...apiQuery('/api/admin/feature-types'), staleTime: Infinity })
  return (
    <Section
      title={
        <span className="row">
          Flags to clean up
          <Info>Unused for 30 days, on for everyone for 30 days, older than flags of their type should become, completed, or marked as stale.</Info>
        </span>
      }
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
  rows: readonly FlagRow[]
  lifetimes: ReadonlyMap<string, number | null>
}

function Suggestions({ projectId, rows, lifetimes }: SuggestionsProps) {
  const [now] = useState(() => new Date())
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
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
  const { data } = useQuery(apiQuery('/api/admin/projects/{projectId}/archivable', { path: { projectId } }))
  const verdicts = new Map(data?.features.map((one) => [one.name, one]))
  verdicts.forEach(({ name, safeToArchive }) => safeToArchive && !reasons.get(name) && reasons.set(name, 'Decides nothing, and is not in the code'))
  const found = rows.filter((row) => reasons.get(row.name))
  const shown = found.slice(0, shownFlags)
  const chosen = shown.filter(({ name }) => selected.has(name))
  const select = (names: readonly string[], on: boolean) => setSelected(new Set([...selected].filter((one) => !names.includes(one)).concat(on ? names : [])))
  const columns: Column<FlagRow>[] = [
    {
      id: 'select',
      header: 'Select',
      width: '40px',
      headerCell: (
        <Checkbox
          hideLabel
          label="Select all"
          checked={chosen.length === shown.length}
          indeterminate={chosen.length > 0 && chosen.length < shown.length}
          onChange={(on) =>
            select(
              shown.map(({ name }) => name),
              on,
            )
          }
        />
      ),
      cell: ({ name }) => <Checkbox hideLabel label={`Select ${name}`} checked={selected.has(name)} onChange={(on) => select([name], on)} />,
    },
    nameColumn(projectId),
    { id: 'reason', header: 'Why', cell: ({ name }) => reasons.get(name) },
    { id: 'safe', header: 'Safe to archive', cell: ({ name }) => <Verdict of={verdicts.get(name)} /> },
    ...usageColumns<FlagRow>(),
  ]
  if (found.length === 0)
    return (
      <EmptyState icon={<Icons.Check />} title="Nothing to clean up">
        Flags appear here when they have served their purpose.
      </EmptyState>
    )
  return (
    <>
      {chosen.length > 0 && (
        <BulkBar
          environments={rows[0]!.environments.map(({ name, type }) => ({ name, type }))}
          flags={chosen}
          hidden={0}
          onClear={() => setSelected(new Set())}
        />
      )}
      <Table
        cards
        label="Flags to clean up"
        columns={columns}
        rows={shown}
        rowKey={({ name }) => name}
        selected={({ name }) => selected.has(name)}
        onSelect={({ name }, on) => select([name], on)}
      />
      {found.length > shownFlags && (
        <p className="soft small">
          The first {number(shownFlags)} of {number(found.length)} flags.
        </p>
      )}
    </>
  )
}

/** Whether a flag is safe to archive, and what stands against it. */
function Verdict({ of }: { of?: Schema<'Archivable'> }) {
  if (!of) return null
  return of.safeToArchive ? (
    <Badge kind="ok">Yes</Badge>
  ) : (
    <span className="row">
      No <Info>{of.against.join(' ')}</Info>
    </span>
  )
}
