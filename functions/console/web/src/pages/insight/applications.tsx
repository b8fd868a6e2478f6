import { Page } from '../../shell'
import { EmptyState } from '../../ui'

export default function ApplicationsPage() {
  return (
    <Page title="Applications">
      <EmptyState title="Applications">This part of the console is not available yet.</EmptyState>
    </Page>
  )
}
