import { Page } from '../../shell'
import { EmptyState } from '../../ui'

export default function ProfilePage() {
  return (
    <Page title="Profile">
      <EmptyState title="Profile">This part of the console is not available yet.</EmptyState>
    </Page>
  )
}
