import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { apiQuery, versionedQuery } from '../../api'
import { ConstraintSummary } from '../../constraints'
import { Page, useUrlState, type Crumb } from '../../shell'
import { Badge, Loaded, Section } from '../../ui'
import { ProjectName } from '../../ui/projectname'
import { SegmentActions, SegmentForm } from './segmentform'
import { StrategyUsage, usageLimit } from './usage'

const crumbs: Crumb[] = [{ label: 'Segments', link: { to: '/segments' } }]

/** A segment with the strategies that use it and its constraints, to read and then to edit; with the id 'new' a form for a new one. */
export default function SegmentPage() {
  const { id } = useParams({ from: '/segments/$id' })
  if (id === 'new') {
    return (
      <Page title="Create segment" crumbs={crumbs}>
        <SegmentForm />
      </Page>
    )
  }
  return <ExistingSegment key={id} id={id} />
}

function ExistingSegment({ id }: { id: string }) {
  const path = { id: Number(id) }
  const [{ edit }, setView] = useUrlState({ edit: false })
  const segment = useQuery(versionedQuery('/api/admin/segments/{id}', { path }))
  const usage = useQuery(apiQuery('/api/admin/segments/{id}/strategies', { path, query: { limit: String(usageLimit) } }))
  const body = segment.data?.body
  return (
    <Page
      title={body?.name ?? 'Segment'}
      aside={
        body?.project && (
          <Badge>
            Project <ProjectName id={body.project} />
          </Badge>
        )
      }
      description={edit ? undefined : body?.description}
      crumbs={crumbs}
      actions={segment.data && <SegmentActions loaded={segment.data} onEdit={edit ? undefined : () => setView({ edit: true }, { push: true })} />}
    >
      <Loaded query={segment}>
        {(loaded) => (
          <div className={edit ? 'stack narrow' : 'stack'}>
            {edit ? (
              <SegmentForm loaded={loaded} onClose={() => setView({ edit: false })} />
            ) : (
              <>
                <Section title="Who is in it">
                  {loaded.body.constraints.length === 0 ? <p>Everyone</p> : <ConstraintSummary constraints={loaded.body.constraints} />}
                </Section>
                <Section title="Used by">
                  <Loaded query={usage} lines={2}>
                    {(using) => (
                      <StrategyUsage label={`Strategies that use ${loaded.body.name}`} strategies={using.strategies} defaults={using.defaultStrategies} />
                    )}
                  </Loaded>
                </Section>
              </>
            )}
          </div>
        )}
      </Loaded>
    </Page>
  )
}
