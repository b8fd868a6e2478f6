import { useQuery } from '@tanstack/react-query'
import { apiQuery } from '../../api'
import { Badge, plural } from '../../ui'
import type { Flag } from './data'
import { Part } from './part'

const shownReferences = 5

/** Whether the flag is safe to archive, what stands against it, and where the code names it. */
export function Archivable({ flag }: { flag: Flag }) {
  const path = { projectId: flag.project, featureName: flag.name }
  const { data } = useQuery(apiQuery('/api/admin/projects/{projectId}/archivable/{featureName}', { path }))
  if (!data || flag.archived) return null
  const more = data.total - shownReferences
  return (
    <Part title="Safe to archive">
      {data.safeToArchive ? (
        <p>
          <Badge kind="ok">Yes</Badge>
        </p>
      ) : (
        <ul className="soft small">
          {data.against.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      {data.references.slice(0, shownReferences).map(({ repository, path: file, line, url }) => (
        <p key={`${repository}/${file}/${line}`} className="small break">
          {url ? (
            <a href={url} target="_blank" rel="noreferrer">
              {file}:{line}
            </a>
          ) : (
            `${file}:${line}`
          )}
        </p>
      ))}
      {more > 0 && <p className="soft small">and {plural(more, 'more file')}</p>}
    </Part>
  )
}
