import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { apiQuery } from '../../api'
import { Button, IconButton, Icons, environmentChoice } from '../../ui'
import { MultiCombobox } from '../../ui/combobox'
import { SuggestField } from '../../ui/suggest'
import type { ContextEntry, Question } from './playgrounddata'

interface QuestionFormProps {
  question: Question
  environments: readonly { name: string; type: string }[]
  pending: boolean
  onAsk: (question: Question) => void
}

const maxFields = 100
const usual: ContextEntry[] = [
  { name: 'userId', value: '' },
  { name: 'appName', value: '' },
]

/** Environments, projects and the context that flags are evaluated for. */
export function QuestionForm({ question, environments, pending, onAsk }: QuestionFormProps) {
  const projects = useQuery(apiQuery('/api/admin/projects'))
  const fields = useQuery(apiQuery('/api/admin/context'))
  const [chosen, setChosen] = useState({ environments: question.environments, projects: question.projects })
  const [context, setContext] = useState(question.context.length > 0 ? question.context : usual)
  const change = (index: number, part: Partial<ContextEntry>) => setContext(context.map((entry, at) => (at === index ? { ...entry, ...part } : entry)))
  const names = (fields.data ?? []).map((field) => ({ value: field.name, note: field.description ?? undefined }))
  const valuesOf = (name: string) =>
    (fields.data?.find((field) => field.name === name)?.legalValues ?? []).map((legal) => ({ value: legal.value, note: legal.description }))
  return (
    <form
      className="playground-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (chosen.environments.length > 0 && !pending) onAsk({ ...chosen, context })
      }}
    >
      <div className="stack">
        <MultiCombobox
          label="Environments"
          required
          choices={environments.map(environmentChoice)}
          value={chosen.environments}
          onChange={(value) => setChosen({ ...chosen, environments: value })}
        />
        <MultiCombobox
          label="Projects"
          placeholder="All projects"
          choices={(projects.data?.projects ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          value={chosen.projects}
          onChange={(value) => setChosen({ ...chosen, projects: value })}
        />
      </div>
      <fieldset className="stack-s">
        <legend className="field-label">Context</legend>
        {context.map((entry, index) => (
          <div key={index} className="context-entry">
            <SuggestField
              label={`Field ${index + 1}`}
              hideLabel
              placeholder="Field"
              suggestions={names}
              value={entry.name}
              onChange={(name) => change(index, { name })}
              maxLength={100}
            />
            <SuggestField
              label={entry.name ? `Value of ${entry.name}` : `Value ${index + 1}`}
              hideLabel
              placeholder={entry.name === 'userId' ? 'One or more: 7, 8, 9' : 'Value'}
              suggestions={valuesOf(entry.name.trim())}
              value={entry.value}
              onChange={(value) => change(index, { value })}
              maxLength={10_000}
            />
            <IconButton
              label={`Remove ${entry.name || `field ${index + 1}`}`}
              icon={<Icons.Trash />}
              onClick={() => setContext(context.filter((_, at) => at !== index))}
            />
          </div>
        ))}
        <div className="row-apart">
          <Button
            size="small"
            icon={<Icons.Plus />}
            disabledReason={context.length >= maxFields ? 'A context has at most 100 fields.' : undefined}
            onClick={() => setContext([...context, { name: '', value: '' }])}
          >
            Add field
          </Button>
          <Button
            type="submit"
            variant="primary"
            icon={<Icons.Play />}
            pending={pending}
            disabledReason={chosen.environments.length === 0 ? 'Choose an environment first.' : undefined}
          >
            Evaluate
          </Button>
        </div>
      </fieldset>
    </form>
  )
}
