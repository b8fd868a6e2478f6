import { Page } from '../../shell'
import { EmptyState } from '../../ui'

export default function StrategiesPage() {
  return (
    <Page title="Strategies">
      <EmptyState title="Strategies">This part of the console is not available yet.</EmptyState>
    </Page>
  )
}
