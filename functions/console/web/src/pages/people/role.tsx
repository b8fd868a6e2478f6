import { Page } from '../../shell'
import { EmptyState } from '../../ui'

export default function RolePage() {
  return (
    <Page title="Role">
      <EmptyState title="Role">This part of the console is not available yet.</EmptyState>
    </Page>
  )
}
