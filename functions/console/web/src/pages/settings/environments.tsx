import { Page } from '../../shell'
import { EmptyState } from '../../ui'

export default function EnvironmentsPage() {
  return (
    <Page title="Environments">
      <EmptyState title="Environments">This part of the console is not available yet.</EmptyState>
    </Page>
  )
}
