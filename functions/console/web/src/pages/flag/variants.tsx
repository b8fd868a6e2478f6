import { EmptyState } from '../../ui'

export default function VariantsTab() {
  return <EmptyState title="Variants">This part of the console is not available yet.</EmptyState>
}
