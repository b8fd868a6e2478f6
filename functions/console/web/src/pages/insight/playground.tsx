import { Page } from '../../shell'
import { EmptyState } from '../../ui'

export default function PlaygroundPage() {
  return (
    <Page title="Playground">
      <EmptyState title="Playground">This part of the console is not available yet.</EmptyState>
    </Page>
  )
}
