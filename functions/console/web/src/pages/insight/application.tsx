import { Page } from '../../shell'
import { EmptyState } from '../../ui'

export default function ApplicationPage() {
  return (
    <Page title="Application">
      <EmptyState title="Application">This part of the console is not available yet.</EmptyState>
    </Page>
  )
}
