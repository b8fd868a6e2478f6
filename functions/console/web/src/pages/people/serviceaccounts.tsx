import { Page } from '../../shell'
import { EmptyState } from '../../ui'

export default function ServiceAccountsPage() {
  return (
    <Page title="Service accounts">
      <EmptyState title="Service accounts">This part of the console is not available yet.</EmptyState>
    </Page>
  )
}
