import { Link } from '@tanstack/react-router'
import { useMe, type Schema } from '../../api'

/** Whom to ask about a project: its owners, with mail links. */
export function Owners({ projectId, owners }: { projectId?: string; owners: readonly Schema<'Owner'>[] }) {
  const { user, can } = useMe()
  const people = owners.filter((owner) => owner.ownerType === 'user')
  if (people.length === 0)
    return (
      <>
        No owner
        {projectId && can('PROJECT_USER_ACCESS_WRITE', projectId).allowed && (
          <>
            {' · '}
            <Link to="/projects/$projectId/access" params={{ projectId }}>
              Add one
            </Link>
          </>
        )}
      </>
    )
  return (
    <>
      {people.length === 1 ? 'Owner: ' : 'Owners: '}
      {people.map(({ name, email, imageUrl }, index) => (
        <span key={imageUrl} className="break">
          {index > 0 && ', '}
          {email ? <a href={`mailto:${email}`}>{name}</a> : name}
          {imageUrl === user?.imageUrl && ' (you)'}
        </span>
      ))}
    </>
  )
}
