import { EmptyState } from '../../ui'

export default function TokensTab() {
  return <EmptyState title="Tokens">This part of the console is not available yet.</EmptyState>
}
