import { EmptyState } from '../../ui'

export default function UsageTab() {
  return <EmptyState title="Usage">This part of the console is not available yet.</EmptyState>
}
