import { EmptyState } from '../../ui'

export default function ArchiveTab() {
  return <EmptyState title="Archive">This part of the console is not available yet.</EmptyState>
}
