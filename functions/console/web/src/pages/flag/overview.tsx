import { EmptyState } from '../../ui'

export default function OverviewTab() {
  return <EmptyState title="Overview">This part of the console is not available yet.</EmptyState>
}
