import { Page } from '../../shell'
import { EmptyState } from '../../ui'

export default function ContextFieldsPage() {
  return (
    <Page title="Context fields">
      <EmptyState title="Context fields">This part of the console is not available yet.</EmptyState>
    </Page>
  )
}
