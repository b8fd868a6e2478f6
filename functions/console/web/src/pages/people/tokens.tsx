import { Page } from '../../shell'
import { EmptyState } from '../../ui'

export default function ApiTokensPage() {
  return (
    <Page title="API tokens">
      <EmptyState title="API tokens">This part of the console is not available yet.</EmptyState>
    </Page>
  )
}
