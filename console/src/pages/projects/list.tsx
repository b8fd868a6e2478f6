import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { apiQuery, useMe } from '../../api'
import { Page, useUrlState } from '../../shell'
import { Button, EmptyState, ErrorState, Icons, Pagination, SearchField, Select, Skeleton } from '../../ui'
import { ProjectCard } from './card'
import { CreateProjectDialog } from './create'
import './projects.css'
import { findProjects, isOrder, orders, type Project } from './view'

const pageSize = 48

/** All projects as cards: favorites first, to search and to sort. */
export default function ProjectsPage() {
  const projects = useQuery(apiQuery('/api/admin/projects'))
  const [creating, setCreating] = useState(false)
  const { can } = useMe()
  const create = (
    <Button variant="primary" icon={<Icons.Plus />} onClick={() => setCreating(true)} disabledReason={can('CREATE_PROJECT').reason}>
      Create project
    </Button>
  )
  const all = projects.data?.projects
  return (
    <Page title="Projects" description="A project groups the flags of a team or a product, and names the people who may change them." actions={create}>
      {all ? <Projects all={all} /> : projects.error ? <ErrorState error={projects.error} onRetry={() => void projects.refetch()} /> : <LoadingCards />}
      <CreateProjectDialog open={creating} onClose={() => setCreating(false)} />
    </Page>
  )
}

function Projects({ all }: { all: Project[] }) {
  const [view, setView] = useUrlState({ q: '', sort: 'name', offset: 0 })
  const order = isOrder(view.sort) ? view.sort : 'name'
  const found = findProjects(all, view.q, order)
  const offset = view.offset < found.length ? view.offset : 0
  return (
    <>
      <div className="row">
        <SearchField label="Search projects" value={view.q} onChange={(q) => setView({ q, offset: 0 })} maxLength={100} />
        <div className="toolbar-end">
          <Select label="Sort projects by" hideLabel choices={orders} value={order} onChange={(sort) => setView({ sort, offset: 0 })} />
        </div>
      </div>
      {found.length === 0 ? (
        <EmptyState
          icon={<Icons.Search />}
          title="No project matches"
          action={<Button onClick={() => setView({ q: '', offset: 0 })}>Show all projects</Button>}
        >
          No name, id or description contains “{view.q.trim()}”.
        </EmptyState>
      ) : (
        <ul className="project-cards" aria-label="Projects">
          {found.slice(offset, offset + pageSize).map((project) => (
            <ProjectCard key={project.id} project={project} />
          ))}
        </ul>
      )}
      {found.length > pageSize && (
        <Pagination noun="projects" offset={offset} limit={pageSize} total={found.length} onChange={(next) => setView({ offset: next }, { push: true })} />
      )}
    </>
  )
}

function LoadingCards() {
  return (
    <div className="project-cards" role="status">
      <span className="visually-hidden">Loading…</span>
      {[1, 2, 3].map((card) => (
        <div key={card} className="project-card project-card-loading">
          <Skeleton width="short" />
          <Skeleton />
          <Skeleton width="medium" />
        </div>
      ))}
    </div>
  )
}
