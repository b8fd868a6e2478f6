import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, apiQuery, useChange, useMe, type Schema } from '../../api'
import { Button, DateTime, Icons, Loaded, Section, Table, number, plural, type Column } from '../../ui'
import { useProtection } from '../../requests/drafts'
import { ArchiveDialog } from '../flags/archivedialog'
import { nameColumn, usageColumns } from './flagcolumns'
import { archiveFlag } from './restore'

type Flag = Schema<'FoundFeature'>

const shownFlags = 20

/** The stale flags of a project: those to remove from the code and to archive. */
export function StaleFlags({ projectId }: { projectId: string }) {
  const { can } = useMe()
  const protection = useProtection(projectId)
  const query = { project: `IS:${projectId}`, state: 'IS:stale', sortBy: 'createdAt', limit: String(shownFlags) }
  const stale = useQuery(apiQuery('/api/admin/search/features', { query }))
  const [asked, setArchiving] = useState<Flag>()
  const archiving = asked && (stale.data?.features.find(({ name }) => name === asked.name) ?? asked)
  const request = (flag: Flag) => api.request.delete('/api/admin/projects/{projectId}/features/{featureName}', { path: { projectId, featureName: flag.name } })
  const archive = useChange({
    change: ({ name }: Flag) => archiveFlag(projectId, name),
    requests: (flag) => [request(flag)],
    invalidates: ['/api/admin/projects', '/api/admin/search', '/api/admin/archive'],
    success: (_, flag) => `${flag.name} is archived.`,
    undo: (_, takeBack) => takeBack(),
    showsErrors: true,
  })
  const columns: Column<Flag>[] = [
    nameColumn(projectId),
    ...usageColumns<Flag>(),
    { id: 'created', header: 'Created', cell: ({ createdAt }) => <DateTime value={createdAt} /> },
    {
      id: 'actions',
      header: 'Actions',
      hideHeader: true,
      align: 'right',
      cell: (flag) => (
        <Button
          size="small"
          icon={<Icons.Archive />}
          aria-label={`Archive ${flag.name}`}
          disabledReason={protection.drafts() ? undefined : can('DELETE_FEATURE', projectId).reason}
          onClick={() => setArchiving(flag)}
        >
          Archive
        </Button>
      ),
    },
  ]
  return (
    <Section title="Stale flags" description="Remove them from the code. Archive a flag when no application uses it any more.">
      <Loaded query={stale} lines={3}>
        {({ features, total = 0 }) =>
          features.length === 0 ? (
            <p className="soft">No flag is stale. Mark a flag as stale when it has served its purpose.</p>
          ) : (
            <>
              <Table label="Stale flags" columns={columns} rows={features} rowKey={({ name }) => name} />
              {total > features.length && (
                <p className="soft small">
                  The oldest {number(features.length)} of {plural(total, 'stale flag')}.
                </p>
              )}
            </>
          )
        }
      </Loaded>
      {archiving && (
        <ArchiveDialog project={projectId} flags={[archiving]} onClose={() => setArchiving(undefined)} onConfirm={() => archive.mutateAsync(archiving)} />
      )}
    </Section>
  )
}
