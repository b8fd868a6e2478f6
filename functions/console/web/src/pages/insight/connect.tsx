import { Page } from '../../shell'
import { EmptyState } from '../../ui'

export default function ConnectPage() {
  return (
    <Page title="Connect">
      <EmptyState title="Connect">This part of the console is not available yet.</EmptyState>
    </Page>
  )
}
