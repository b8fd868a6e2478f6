import { EmptyState } from '../../ui'

export default function AccessTab() {
  return <EmptyState title="Access">This part of the console is not available yet.</EmptyState>
}
