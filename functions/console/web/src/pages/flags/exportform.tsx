import { useState } from 'react'
import { FormActions, useForm } from '../../forms'
import { Checkbox, TextField, plural, toast } from '../../ui'
import { saveExport } from './exporting'
import { TargetFields, useTarget } from './target'

/** Exports the flags of a project, or those with a tag, into a file. */
export function ExportForm({ project }: { project: string }) {
  const [chosen, setChosen] = useState({ project, environment: '' })
  const target = useTarget(chosen.project, chosen.environment)
  const form = useForm({
    initial: { tag: '', everything: false as boolean },
    submit: async ({ tag, everything }) => {
      const count = await saveExport({
        environment: target.environment,
        project: everything ? undefined : target.project,
        tag: tag.trim() || undefined,
        features: [],
      })
      toast.success(`${plural(count, 'flag')} exported`)
    },
  })
  return (
    <form {...form.props}>
      <TargetFields project={chosen.project} environment={chosen.environment} onChange={(change) => setChosen({ ...chosen, ...change })} />
      <Checkbox label="Flags of all projects" checked={form.values.everything} onChange={(everything) => form.set({ everything })} />
      <TextField label="Tag" hint="Only flags with this tag: its value, or type:value. Empty for all flags." maxLength={101} {...form.field('tag')} />
      <FormActions form={form} submit="Export" disabledReason={target.environment ? undefined : 'Choose an environment first.'} />
    </form>
  )
}
