import { useEffect, useRef, useState, type ClipboardEvent, type KeyboardEvent } from 'react'
import { flushSync } from 'react-dom'
import { Button, Field, Icons, number, plural } from '../ui'
import { SuggestInput, type Suggestion } from '../ui/suggest'
import { addValues, maxValueLength, maxValues, splitValues } from './edit'

interface ValuesFieldProps {
  label: string
  values: readonly string[]
  onChange: (values: string[]) => void
  /** The values that the context field allows; empty if it allows any. */
  legal?: readonly Suggestion[]
  error?: string
  /** Indexes of the values that the server refused. */
  invalid?: readonly number[]
  placeholder?: string
  mono?: boolean
}

/** How many values are drawn until the person asks for all. */
const collapsed = 40

/** A list of values as chips. Values are typed one by one, or pasted as lines or separated by commas. */
export function ValuesField({ label, values, onChange, legal = [], error, invalid = [], placeholder, mono }: ValuesFieldProps) {
  const [draft, setDraft] = useState('')
  const [all, setAll] = useState(false)
  const shown = all ? values : values.slice(0, collapsed)
  const unknown = legal.length > 0 ? values.filter((value) => !legal.some((one) => one.value === value)) : []
  const add = (texts: string[]) => {
    setDraft('')
    if (texts.length > 0) onChange(addValues(values, texts))
  }
  const commit = () => add(splitValues(draft))
  const commitOnBlur = useAfterPress(commit)
  const keys = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === ',' && draft.trim() !== '' && !draft.includes('"')) {
      event.preventDefault()
      commit()
    } else if (event.key === 'Backspace' && draft === '' && values.length > 0) {
      onChange(values.slice(0, -1))
    }
  }
  const paste = (event: ClipboardEvent<HTMLInputElement>) => {
    const texts = splitValues(event.clipboardData.getData('text'))
    if (texts.length < 2) return
    event.preventDefault()
    add([...splitValues(draft), ...texts])
  }
  return (
    <div className="stack-s">
      <Field label={label} error={error} hint={hintOf(values.length, unknown)}>
        {(control) => (
          <div className="chips-field">
            {shown.map((value, index) => (
              <ValueChip
                key={`${index} ${value}`}
                value={value}
                mono={mono}
                invalid={invalid.includes(index)}
                onRemove={() => onChange(values.filter((_, other) => other !== index))}
              />
            ))}
            <SuggestInput
              control={control}
              className={mono ? 'input mono' : 'input'}
              suggestions={legal.filter((one) => !values.includes(one.value))}
              value={draft}
              onChange={setDraft}
              onChoose={(value) => add([value])}
              onEnter={commit}
              onKeyDown={keys}
              onPaste={paste}
              onBlur={commitOnBlur}
              maxLength={10_000}
              placeholder={values.length === 0 ? (placeholder ?? 'Add a value') : undefined}
            />
          </div>
        )}
      </Field>
      {values.length > 10 && (
        <div className="row">
          {values.length > collapsed && (
            <Button size="small" variant="quiet" onClick={() => setAll(!all)}>
              {all ? 'Show fewer' : `Show all ${number(values.length)}`}
            </Button>
          )}
          <Button size="small" variant="quiet" onClick={() => onChange([])}>
            Remove all values
          </Button>
        </div>
      )}
    </div>
  )
}

/**
 * Runs an action at once, or, while the pointer is pressed, when it is released: what moves the page between the two makes browsers drop
 * the click on a button below. The action has changed the state before the click arrives.
 */
function useAfterPress(action: () => void): () => void {
  const pressed = useRef(false)
  const waiting = useRef(false)
  const latest = useRef(action)
  useEffect(() => {
    latest.current = action
  })
  useEffect(() => {
    const press = () => (pressed.current = true)
    const release = () => {
      pressed.current = false
      if (!waiting.current) return
      waiting.current = false
      flushSync(() => latest.current())
    }
    document.addEventListener('pointerdown', press, true)
    for (const type of ['pointerup', 'pointercancel']) document.addEventListener(type, release, true)
    return () => {
      document.removeEventListener('pointerdown', press, true)
      for (const type of ['pointerup', 'pointercancel']) document.removeEventListener(type, release, true)
    }
  }, [])
  return () => {
    if (pressed.current) waiting.current = true
    else action()
  }
}

function hintOf(count: number, unknown: string[]): string | undefined {
  if (count > maxValues) return `${number(count)} values; at most ${maxValues} are allowed.`
  if (unknown.length === 1) return `${unknown[0]} is not a legal value of the field.`
  if (unknown.length > 1)
    return `${plural(unknown.length, 'value')} are not legal values of the field: ${unknown.slice(0, 3).join(', ')}${unknown.length > 3 ? ' …' : ''}`
  if (count === 0) return 'Press Enter or comma after each value, or paste many at once.'
  return undefined
}

function ValueChip({ value, mono, invalid, onRemove }: { value: string; mono?: boolean; invalid: boolean; onRemove: () => void }) {
  const name = value === '' ? 'empty text' : value
  return (
    <span className={invalid || value.length > maxValueLength ? 'chip constraint-invalid' : 'chip'}>
      <span className={mono ? 'break mono' : 'break'}>{value === '' ? <em>empty</em> : value}</span>
      <button type="button" aria-label={`Remove ${name}`} onClick={onRemove}>
        <Icons.Close />
      </button>
    </span>
  )
}
