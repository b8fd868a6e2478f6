import { useQuery } from '@tanstack/react-query'
import { apiQuery } from '../../api'
import { Page, type Crumb } from '../../shell'
import { Badge, Button, DateTime, EmptyState, ErrorState, Icons, LinkButton, Loading } from '../../ui'
import { useRevive } from '../projects/revive'
import { useReasons } from './data'

interface MissingFlagProps {
  project: string
  name: string
  error: unknown
  crumbs: Crumb[]
}

/** The page of a flag that cannot be read: it is archived and can be revived, or the project has no such flag. */
export function MissingFlag({ project, name, error, crumbs }: MissingFlagProps) {
  const archive = useQuery(apiQuery('/api/admin/archive/features/{projectId}', { path: { projectId: project } }))
  const archived = archive.data?.features.find((one) => one.name === name)
  const reason = useReasons({ project })('UPDATE_FEATURE')
  const revive = useRevive(project)
  return (
    <Page title={name} crumbs={crumbs} description={archived?.description} aside={archived && <Badge kind="warn">Archived</Badge>}>
      {archive.isPending ? (
        <Loading />
      ) : archived ? (
        <EmptyState
          icon={<Icons.Archive />}
          title="This flag is archived"
          action={
            <Button variant="primary" icon={<Icons.Undo />} pending={Boolean(revive.pending)} disabledReason={reason} onClick={() => revive.start([archived])}>
              Revive flag
            </Button>
          }
        >
          <p>
            It was archived <DateTime value={archived.archivedAt} />. Applications do not get it, so it is off everywhere. Reviving it brings back its
            strategies and variants.
          </p>
          {revive.question}
        </EmptyState>
      ) : (
        <>
          <ErrorState error={error} title="No such flag" />
          <div className="row">
            <LinkButton to="/projects/$projectId" params={{ projectId: project }}>
              Flags of the project
            </LinkButton>
            <LinkButton to="/search" search={{ q: name } as never}>
              Search all projects
            </LinkButton>
          </div>
        </>
      )}
    </Page>
  )
}
