import { useParams } from '@tanstack/react-router'
import { EventSearch } from '../insight/audit'

/** The changes in one project. */
export default function LogTab() {
  const { projectId } = useParams({ from: '/projects/$projectId' })
  return <EventSearch key={projectId} project={projectId} />
}
