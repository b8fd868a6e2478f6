import { Page } from '../../shell'
import { EmptyState } from '../../ui'

export default function WebhooksPage() {
  return (
    <Page title="Webhooks">
      <EmptyState title="Webhooks">This part of the console is not available yet.</EmptyState>
    </Page>
  )
}
