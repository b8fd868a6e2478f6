import { EmptyState } from '../../ui'

export default function SettingsTab() {
  return <EmptyState title="Settings">This part of the console is not available yet.</EmptyState>
}
