import { api, apiKey, useChange, type Schema } from '../../api'
import { FavoriteButton } from '../../ui'

/** The star of a project. */
export function ProjectFavorite({ id, name, favorite }: { id: string; name: string; favorite: boolean }) {
  const change = useChange({
    change: (next: boolean) => {
      const path = { projectId: id }
      return next ? api.post('/api/admin/projects/{projectId}/favorites', { path }) : api.delete('/api/admin/projects/{projectId}/favorites', { path })
    },
    optimistic: (next) => [
      {
        key: apiKey('/api/admin/projects'),
        update: (old: Schema<'ProjectList'>) => ({
          ...old,
          projects: old.projects.map((project) => (project.id === id ? { ...project, favorite: next } : project)),
        }),
      },
      {
        key: apiKey('/api/admin/projects/{projectId}/overview', { path: { projectId: id } }),
        update: (old: Schema<'ProjectSummary'>) => ({ ...old, favorite: next }),
      },
    ],
    invalidates: ['/api/admin/projects'],
  })
  return <FavoriteButton name={name} favorite={favorite} onChange={(next) => change.mutate(next)} />
}
