import { Page } from '../../shell'
import { EmptyState } from '../../ui'

export default function ImportAndExportPage() {
  return (
    <Page title="Import and export">
      <EmptyState title="Import and export">This part of the console is not available yet.</EmptyState>
    </Page>
  )
}
