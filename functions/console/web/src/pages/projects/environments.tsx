import { EmptyState } from '../../ui'

export default function EnvironmentsTab() {
  return <EmptyState title="Environments">This part of the console is not available yet.</EmptyState>
}
