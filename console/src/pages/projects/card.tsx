import { Link } from '@tanstack/react-router'
import { Badge, Icons, Meter, number, plural } from '../../ui'
import { ProjectFavorite } from './favorite'
import { healthKind, modes, type Project } from './view'

/** A project in the list of projects. The whole card leads to the project. */
export function ProjectCard({ project }: { project: Project }) {
  const mode = modes.find((one) => one.value === project.mode)
  return (
    <li className="project-card">
      <div className="project-card-head">
        <div className="grow">
          <h2>
            <Link to="/projects/$projectId" params={{ projectId: project.id }} className="project-card-link">
              {project.name}
            </Link>
          </h2>
          <p className="soft small mono break">{project.id}</p>
        </div>
        <span className="project-card-star">
          <ProjectFavorite id={project.id} name={project.name} favorite={project.favorite} />
        </span>
      </div>
      {project.description && <p className="project-card-text soft break">{project.description}</p>}
      <div className="row-apart project-card-health">
        <span className="row">
          <span className="soft small">Health</span>
          <Meter label={`Health of ${project.name}`} value={project.health} kind={healthKind(project.health)} />
        </span>
        <span className="row">
          {project.staleFeatureCount > 0 && <Badge kind="warn">{number(project.staleFeatureCount)} stale</Badge>}
          {mode && mode.value !== 'open' && <Badge>{mode.label}</Badge>}
        </span>
      </div>
      <p className="project-card-counts soft small number">
        <Icons.Flag />
        {plural(project.featureCount, 'flag')}
        <Icons.Users />
        {plural(project.memberCount, 'member')}
      </p>
    </li>
  )
}
