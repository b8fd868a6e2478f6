import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { apiQuery } from '../../api'
import { Button, IconButton, Icons, environmentChoice } from '../../ui'
import { MultiCombobox } from '../../ui/combobox'
import { SuggestField } from '../../ui/suggest'
import { contextText, type ContextEntry, type Question } from './playgrounddata'

interface QuestionFormProps {
  question: Question
  environments: readonly { name: string; type: string }[]
  pending: boolean
  onAsk: (question: Question) => void
  /** Tells whether the form has another question than the one that was asked. */
  onEdit: (edited: boolean) => void
}

const maxFields = 100
const usual: ContextEntry[] = [{ name: 'userId', value: '' }]

/** Environments, projects and the context that flags are evaluated for. */
export function QuestionForm({ question, environments, pending, onAsk, onEdit }: QuestionFormProps) {
  const projects = useQuery(apiQuery('/api/admin/projects'))
  const fields = useQuery(apiQuery('/api/admin/context'))
  const [chosen, setChosen] = useState({ environments: question.environments, projects: question.projects })
  const [context, setContext] = useState(question.context.length > 0 ? question.context : usual)
  const change = (index: number, part: Partial<ContextEntry>) => setContext(context.map((entry, at) => (at === index ? { ...entry, ...part } : entry)))
  const form = useRef<HTMLFormElement>(null)
  const textOf = (one: Question) => [one.environments, one.projects, contextText(one.context.filter(({ value }) => value))].join(' ')
  const edited = textOf({ ...chosen, context }) !== textOf(question)
  useEffect(() => onEdit(edited), [edited, onEdit])
  const empty = question.context.length > 0 && question.context.every(({ value }) => value === '')
  useEffect(() => {
    // After the page has focused its heading.
    if (empty) setTimeout(() => form.current?.querySelectorAll<HTMLInputElement>('.context-entry input')[1]?.focus(), 0)
  }, [empty])
  const names = (fields.data ?? []).map((field) => ({ value: field.name, note: field.description ?? undefined }))
  const valuesOf = (name: string) =>
    (fields.data?.find((field) => field.name === name)?.legalValues ?? []).map((legal) => ({ value: legal.value, note: legal.description }))
  return (
    <form
      ref={form}
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
              onEnter={() => form.current?.requestSubmit()}
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
            onClick={() => {
              setContext([...context, { name: '', value: '' }])
              // The new fields are in the document after this event.
              setTimeout(() => form.current?.querySelector<HTMLInputElement>('.context-entry:nth-last-of-type(2) input')?.focus(), 0)
            }}
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
