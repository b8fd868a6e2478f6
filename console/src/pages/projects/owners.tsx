import { useMe, type Schema } from '../../api'

/** Whom to ask about a project: its owners, with mail links, or the administrators. */
export function Owners({ owners }: { owners: readonly Schema<'Owner'>[] }) {
  const { user } = useMe()
  const people = owners.filter((owner) => owner.ownerType === 'user')
  if (people.length === 0) return <>No owner: ask an administrator</>
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
