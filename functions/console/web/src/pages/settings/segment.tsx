import { Page } from '../../shell'
import { EmptyState } from '../../ui'

export default function SegmentPage() {
  return (
    <Page title="Segment">
      <EmptyState title="Segment">This part of the console is not available yet.</EmptyState>
    </Page>
  )
}
