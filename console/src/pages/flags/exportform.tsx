import { useState } from 'react'
import { FormActions, useForm } from '../../forms'
import { RadioGroup, TextField, plural, toast } from '../../ui'
import { saveExport } from './exporting'
import { TargetFields, useTarget } from './target'

type Selection = 'project' | 'tag' | 'all'

const selections: { value: Selection; label: string }[] = [
  { value: 'project', label: 'The flags of the project' },
  { value: 'tag', label: 'The flags with a tag, in all projects' },
  { value: 'all', label: 'All flags' },
]

/** Exports the flags of a project, those with a tag, or all, in one environment, into a file. */
export function ExportForm({ project }: { project: string }) {
  const [chosen, setChosen] = useState({ project, environment: '' })
  const target = useTarget(chosen.project, chosen.environment)
  const form = useForm({
    initial: { selection: 'project' as Selection, tag: '' },
    check: ({ selection, tag }) => (selection === 'tag' && !tag.trim() ? { tag: 'Type a tag: its value, or type:value.' } : {}),
    submit: async ({ selection, tag }) => {
      const text = tag.trim()
      const about = { project: target.project, tag: text, all: 'all' }[selection]
      const selected = { project: { project: target.project }, tag: { tag: text }, all: { features: [] } }[selection]
      const count = await saveExport(about, { environment: target.environment, ...selected })
      toast.success(`${plural(count, 'flag')} exported`)
    },
  })
  return (
    <form {...form.props}>
      <TargetFields project={chosen.project} environment={chosen.environment} onChange={(change) => setChosen({ ...chosen, ...change })} />
      <RadioGroup label="Flags to export" choices={selections} {...form.field('selection')} />
      {form.values.selection === 'tag' && <TextField label="Tag" hint="Its value, or type:value." maxLength={101} {...form.field('tag')} />}
      <FormActions form={form} submit="Export" disabledReason={target.environment ? undefined : 'Choose an environment first.'} />
    </form>
  )
}
