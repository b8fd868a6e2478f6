import type { Schema } from '../../api'
import type { Mode } from './view'

/** A link of each flag of a project, as it is edited. */
export interface Link {
  title: string
  urlTemplate: string
}

/** The fields of the settings of a project. */
export interface Settings {
  name: string
  description: string
  mode: Mode
  stickiness: string
  limit: number | null
  pattern: string
  example: string
  convention: string
  links: Link[]
}

/** The settings of a project as fields. */
export function settingsOf(project: Schema<'ProjectSummary'>): Settings {
  const { pattern, example, description } = project.featureNaming
  return {
    name: project.name,
    description: project.description ?? '',
    mode: project.mode as Mode,
    stickiness: project.defaultStickiness,
    limit: project.featureLimit,
    pattern: pattern ?? '',
    example: example ?? '',
    convention: description ?? '',
    links: project.linkTemplates.map(({ title, urlTemplate }) => ({ title: title ?? '', urlTemplate })),
  }
}

/** The fields as the body of a request. Empty texts are sent as none. */
export function settingsRequest(values: Settings): Schema<'UpdateProjectRequest'> {
  return {
    name: values.name.trim(),
    description: values.description,
    mode: values.mode,
    defaultStickiness: values.stickiness,
    featureLimit: values.limit,
    featureNaming: { pattern: values.pattern || null, example: values.example || null, description: values.convention || null },
    linkTemplates: values.links.map(({ title, urlTemplate }) => ({ title: title.trim() || null, urlTemplate: urlTemplate.trim() })),
  }
}
