import { Page } from '../../shell'
import { EmptyState } from '../../ui'

export default function SegmentsPage() {
  return (
    <Page title="Segments">
      <EmptyState title="Segments">This part of the console is not available yet.</EmptyState>
    </Page>
  )
}
