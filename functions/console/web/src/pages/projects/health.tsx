import { EmptyState } from '../../ui'

export default function HealthTab() {
  return <EmptyState title="Health">This part of the console is not available yet.</EmptyState>
}
