import { FormActions, useForm } from '../../forms'
import { Dialog, Select, environmentChoice, plural, toast } from '../../ui'
import { saveExport } from './exporting'

interface ExportDialogProps {
  projectId: string
  environments: readonly { name: string; type: string }[]
  features: string[]
  onClose: () => void
}

/** Exports the selected flags in one environment into a file. */
export function ExportDialog({ projectId, environments, features, onClose }: ExportDialogProps) {
  const form = useForm({
    initial: { environment: environments[0]?.name ?? '' },
    submit: async ({ environment }) => {
      const count = await saveExport(projectId, { environment, features })
      toast.success(`${plural(count, 'flag')} exported`)
      onClose()
    },
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Export ${plural(features.length, 'flag')}`}
      description="The file contains the strategies, variants and states of one environment, and can be imported into any environment."
    >
      <form {...form.props}>
        <Select label="Environment" choices={environments.map(environmentChoice)} {...form.field('environment')} />
        <FormActions form={form} submit="Export" onCancel={onClose} />
      </form>
    </Dialog>
  )
}
