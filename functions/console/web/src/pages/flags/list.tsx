import { EmptyState } from '../../ui'

export default function FlagsTab() {
  return <EmptyState title="Flags">This part of the console is not available yet.</EmptyState>
}
