import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Suspense, lazy, useCallback } from 'react'
import { apiQuery, useMe } from '../../api'
import { Page, useUrlState } from '../../shell'
import { Badge, Button, EmptyState, ErrorState, Icons, LinkButton, Meter, Pagination, Table, number, type Column } from '../../ui'
import { FilterBar } from '../../ui/filters'
import { CreateProjectDialog } from './create'
import { ProjectFavorite } from './favorite'
import './projects.css'
import { findProjects, healthKind, modes, type Project } from './view'

const pageSize = 100

// What waits, changed and is a favorite is loaded beside the projects.
const Today = lazy(() => import('./today'))

/** All projects, favorites first, with what waits for the person; the first steps on a service without flags. */
export default function ProjectsPage() {
  const projects = useQuery(apiQuery('/api/admin/projects'))
  const [{ create }, setView] = useUrlState({ create: false })
  const { can } = useMe()
  const all = projects.data?.projects
  const flags = all?.reduce((sum, { featureCount }) => sum + featureCount, 0)
  return (
    <Page
      title="Projects"
      actions={
        <Button
          variant={flags === 0 ? 'secondary' : 'primary'}
          icon={<Icons.Plus />}
          onClick={() => setView({ create: true })}
          disabledReason={can('CREATE_PROJECT').reason}
        >
          Create project
        </Button>
      }
      rail={
        flags !== undefined &&
        flags > 0 && (
          <Suspense fallback={null}>
            <Today flags={flags} />
          </Suspense>
        )
      }
    >
      {flags === 0 && <FirstSteps project={all!.find(({ id }) => id === 'default') ?? all![0]} />}
      {projects.error && !all ? <ErrorState error={projects.error} onRetry={() => void projects.refetch()} /> : <Projects all={all} />}
      <CreateProjectDialog open={create} onClose={() => setView({ create: false })} />
    </Page>
  )
}

const columns: Column<Project>[] = [
  {
    id: 'name',
    header: 'Name',
    sortable: true,
    cell: (project) => (
      <span className="project-name">
        <ProjectFavorite id={project.id} name={project.name} favorite={project.favorite} />
        <span className="grow">
          <Link to="/projects/$projectId" params={{ projectId: project.id }} className="plain-link strong project-text">
            {project.name}
          </Link>
          {project.description && (
            <span className="soft small project-text" title={project.description}>
              {project.description}
            </span>
          )}
        </span>
        {modes.some(({ value }) => value === project.mode && value !== 'open') && <Badge>{modes.find(({ value }) => value === project.mode)?.label}</Badge>}
      </span>
    ),
  },
  { id: 'flags', header: 'Flags', sortable: true, align: 'right', width: '88px', cell: ({ featureCount }) => number(featureCount) },
  {
    id: 'health',
    header: 'Health',
    sortable: true,
    width: '190px',
    cell: ({ name, health, staleFeatureCount }) => (
      <span className="row">
        <Meter label={`Health of ${name}`} value={health} kind={healthKind(health)} />
        {staleFeatureCount > 0 && <span className="soft small nowrap">{number(staleFeatureCount)} stale</span>}
      </span>
    ),
  },
  {
    id: 'members',
    header: 'Project members',
    sortable: true,
    align: 'right',
    width: '136px',
    cell: ({ memberCount }) => <span title="Who has a role in this project. Others can change it by their role in the service.">{number(memberCount)}</span>,
  },
]

const start = { q: '', sort: 'name', desc: false as boolean, offset: 0 }

function Projects({ all }: { all?: Project[] }) {
  const [view, setView] = useUrlState(start)
  const sort = { by: view.sort, descending: view.desc }
  const found = findProjects(all ?? [], view.q, sort)
  const offset = view.offset < found.length ? view.offset : 0
  const filter = useCallback((change: { q?: string }) => setView({ ...change, offset: 0 }), [setView])
  return (
    <>
      <FilterBar
        noun="project"
        search="Search projects"
        filters={[]}
        values={{ q: view.q }}
        onChange={filter}
        shown={all && found.length}
        total={all?.length}
      />
      <Table
        cards
        label="Projects"
        columns={columns}
        rows={found.slice(offset, offset + pageSize)}
        rowKey={({ id }) => id}
        sort={sort}
        onSort={({ by, descending }) => setView({ sort: by, desc: descending, offset: 0 })}
        loading={!all}
        empty={
          <EmptyState icon={<Icons.Search />} title="No project matches" action={<Button onClick={() => filter({ q: '' })}>Show all projects</Button>}>
            No name, id or description contains “{view.q.trim()}”.
          </EmptyState>
        }
      />
      {found.length > pageSize && (
        <Pagination noun="projects" offset={offset} limit={pageSize} total={found.length} onChange={(next) => setView({ offset: next }, { push: true })} />
      )}
    </>
  )
}

// What to do on a service that has no flags yet.
function FirstSteps({ project }: { project?: Project }) {
  if (!project) return null
  const params = { projectId: project.id }
  return (
    <section className="home-steps" aria-labelledby="first-steps">
      <h2 id="first-steps">Release your first feature</h2>
      <ol className="stack">
        <li>
          <span className="home-step">1</span>
          <span className="grow">Create a flag. Your code asks for its name.</span>
          <LinkButton variant="primary" to="/projects/$projectId" params={params} search={{ create: true } as never}>
            Create flag
          </LinkButton>
        </li>
        <li>
          <span className="home-step">2</span>
          <span className="grow">Connect your application with a program to copy.</span>
          <LinkButton to="/connect" search={{ project: project.id } as never}>
            Connect
          </LinkButton>
        </li>
        <li>
          <span className="home-step">3</span>
          <span className="grow">Give your team roles, or import flags that you have elsewhere.</span>
          <LinkButton to="/projects/$projectId/access" params={params}>
            Add members
          </LinkButton>
          <LinkButton to="/import" search={{ project: project.id } as never}>
            Import
          </LinkButton>
        </li>
      </ol>
    </section>
  )
}
