import { useUrlState, Page } from '../../shell'
import { Section } from '../../ui'
import { ExportForm } from './exportform'
import './flags.css'
import { ImportForm } from './importform'

/** Imports flags from a file, and exports them into one. */
export default function ImportAndExportPage() {
  const [target, setTarget] = useUrlState({ project: '', environment: '' })
  return (
    <Page title="Import and export" description="Flags with their strategies, variants, tags and states in one environment, as JSON in Unleash's format.">
      <div className="flags-transfer">
        <Section title="Import">
          <ImportForm project={target.project} environment={target.environment} onTarget={setTarget} />
        </Section>
        <Section title="Export">
          <ExportForm project={target.project} />
        </Section>
      </div>
    </Page>
  )
}
