import { useRef } from 'react'
import { Button, IconButton, Icons, TextField } from '../../ui'
import type { Link } from './settingsform'

interface Props {
  value: Link[]
  onChange: (value: Link[]) => void
  errorAt: (pointer: string) => string | undefined
  disabledReason?: string
}

const maxLinks = 20

/** Edits the links that each flag of a project shows. */
export function LinkTemplates({ value, onChange, errorAt, disabledReason }: Props) {
  const add = useRef<HTMLButtonElement>(null)
  const change = (index: number, next: Partial<Link>) => onChange(value.map((link, other) => (other === index ? { ...link, ...next } : link)))
  const remove = (index: number) => {
    onChange(value.filter((_, other) => other !== index))
    add.current?.focus()
  }
  return (
    <>
      {value.map((link, index) => (
        <div key={index} className="project-link" role="group" aria-label={`Link ${index + 1}`}>
          <TextField
            label="Title"
            maxLength={255}
            value={link.title}
            onChange={(title) => change(index, { title })}
            error={errorAt(`/linkTemplates/${index}/title`)}
            disabledReason={disabledReason}
          />
          <TextField
            label="URL"
            required
            maxLength={2000}
            placeholder="https://issues.example.com/search?q={{feature}}"
            value={link.urlTemplate}
            onChange={(urlTemplate) => change(index, { urlTemplate })}
            error={errorAt(`/linkTemplates/${index}/urlTemplate`)}
            disabledReason={disabledReason}
          />
          <IconButton label={`Remove link ${index + 1}`} icon={<Icons.Trash />} disabledReason={disabledReason} onClick={() => remove(index)} />
        </div>
      ))}
      <p className="soft small">
        In the URL, <code>{'{{project}}'}</code> and <code>{'{{feature}}'}</code> stand for the id of the project and the name of the flag.
      </p>
      <div>
        <Button
          ref={add}
          icon={<Icons.Plus />}
          disabledReason={disabledReason ?? (value.length >= maxLinks ? `At most ${maxLinks} links are allowed.` : undefined)}
          onClick={() => onChange([...value, { title: '', urlTemplate: '' }])}
        >
          Add link
        </Button>
      </div>
    </>
  )
}
