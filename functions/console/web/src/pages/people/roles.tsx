import { Page } from '../../shell'
import { EmptyState } from '../../ui'

export default function RolesPage() {
  return (
    <Page title="Roles">
      <EmptyState title="Roles">This part of the console is not available yet.</EmptyState>
    </Page>
  )
}
