import { Page } from '../../shell'
import { EmptyState } from '../../ui'

export default function AuditLogPage() {
  return (
    <Page title="Audit log">
      <EmptyState title="Audit log">This part of the console is not available yet.</EmptyState>
    </Page>
  )
}
