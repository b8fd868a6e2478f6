import { Page } from '../../shell'
import { EmptyState } from '../../ui'

export default function SearchPage() {
  return (
    <Page title="Search">
      <EmptyState title="Search">This part of the console is not available yet.</EmptyState>
    </Page>
  )
}
