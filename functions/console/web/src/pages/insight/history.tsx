import { EmptyState } from '../../ui'

export default function HistoryTab() {
  return <EmptyState title="History">This part of the console is not available yet.</EmptyState>
}
