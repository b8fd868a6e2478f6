import { Page } from '../../shell'
import { EmptyState } from '../../ui'

export default function UsersPage() {
  return (
    <Page title="Users">
      <EmptyState title="Users">This part of the console is not available yet.</EmptyState>
    </Page>
  )
}
