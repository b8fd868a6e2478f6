import { useQuery } from '@tanstack/react-query'
import { apiQuery } from '../../api'
import { Select, environmentChoice } from '../../ui'
import { Combobox } from '../../ui/combobox'

interface TargetProps {
  project: string
  environment: string
  onChange: (target: { project?: string; environment?: string }) => void
}

/** The projects and environments to choose from. A choice that was not made is the first one. */
export function useTarget(project: string, environment: string) {
  const projects = useQuery(apiQuery('/api/admin/projects'))
  const all = projects.data?.projects ?? []
  const chosen = project || (all.find(({ id }) => id === 'default') ?? all[0])?.id || ''
  const ofProject = useQuery({ ...apiQuery('/api/admin/environments/project/{projectId}', { path: { projectId: chosen } }), enabled: chosen !== '' })
  const environments = (ofProject.data?.environments ?? []).filter((one) => one.visible)
  const target = environments.find((one) => one.name === environment) ?? environments[0]
  return { all, environments, project: chosen, environment: target?.name ?? '', type: target?.type ?? '' }
}

/** The fields of a project and of one of its environments. */
export function TargetFields({ project, environment, onChange }: TargetProps) {
  const target = useTarget(project, environment)
  return (
    <div className="columns">
      <Combobox
        label="Project"
        value={target.project}
        onChange={(id) => onChange({ project: id, environment: '' })}
        choices={target.all.map(({ id, name }) => ({ value: id, label: name.toLowerCase() === id ? name : `${name} (${id})` }))}
      />
      <Select
        label="Environment"
        value={target.environment}
        onChange={(name) => onChange({ environment: name })}
        choices={target.environments.map(environmentChoice)}
      />
    </div>
  )
}
