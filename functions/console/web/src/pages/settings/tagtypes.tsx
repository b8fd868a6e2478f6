import { Page } from '../../shell'
import { EmptyState } from '../../ui'

export default function TagTypesPage() {
  return (
    <Page title="Tag types">
      <EmptyState title="Tag types">This part of the console is not available yet.</EmptyState>
    </Page>
  )
}
