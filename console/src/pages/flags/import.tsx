import { useUrlState, Page } from '../../shell'
import { Section } from '../../ui'
import { ExportForm } from './exportform'
import './flags.css'
import { ImportForm } from './importform'

/** Imports flags from a file, and exports them into one. */
export default function ImportAndExportPage() {
  const [target, setTarget] = useUrlState({ project: '', environment: '' })
  return (
    <Page
      title="Import and export"
      description="A file contains flags with their strategies, variants, tags and states in one environment, in Unleash's format."
    >
      <Section title="Import" description="Check a file first: nothing changes until you import it.">
        <ImportForm project={target.project} environment={target.environment} onTarget={setTarget} />
      </Section>
      <Section title="Export">
        <ExportForm project={target.project} />
      </Section>
    </Page>
  )
}
