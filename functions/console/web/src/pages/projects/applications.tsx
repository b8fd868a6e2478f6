import { EmptyState } from '../../ui'

export default function ApplicationsTab() {
  return <EmptyState title="Applications">This part of the console is not available yet.</EmptyState>
}
