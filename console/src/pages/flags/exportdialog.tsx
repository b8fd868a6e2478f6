import { FormDialog, useForm } from '../../forms'
import { environmentChoice, plural, Select, toast } from '../../ui'
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
    <FormDialog
      form={form}
      submit="Export"
      onClose={onClose}
      title={`Export ${plural(features.length, 'flag')}`}
      description="The file contains the strategies, variants and states of one environment, and can be imported into any environment."
    >
      <Select label="Environment" choices={environments.map(environmentChoice)} {...form.field('environment')} />
    </FormDialog>
  )
}
