import { Autocomplete as Base } from '@base-ui/react/autocomplete'
import { useRef, useState, type ClipboardEvent, type KeyboardEvent } from 'react'
import { Field, type FieldLook } from './field'
import './menu.css'

/** A suggested text, with an explanation beside it. */
export interface Suggestion {
  value: string
  note?: string
}

interface InputProps {
  suggestions: readonly Suggestion[]
  value: string
  onChange: (value: string) => void
  /** A suggestion was chosen. By default it becomes the value. */
  onChoose?: (value: string) => void
  /** Enter without a chosen suggestion. */
  onEnter?: () => void
  onKeyDown?: (event: KeyboardEvent<HTMLInputElement>) => void
  onPaste?: (event: ClipboardEvent<HTMLInputElement>) => void
  onBlur?: () => void
  placeholder?: string
  maxLength?: number
  className?: string
  control: object
}

const limit = 200

/** Suggestions that contain the text, without the text itself. */
export function matching(suggestions: readonly Suggestion[], text: string): Suggestion[] {
  const query = text.trim().toLowerCase()
  const found = suggestions.filter((one) => one.value !== text && `${one.value} ${one.note ?? ''}`.toLowerCase().includes(query))
  return found.slice(0, limit)
}

/**
 * Escape closes a list, then the dialog. Base UI would also empty the field with it, unseen in a long form: this cancels that change, and
 * reports whether it did.
 */
export function keepsOnEscape(details: { reason: string; cancel: () => void; allowPropagation: () => void }): boolean {
  if (details.reason !== 'escape-key') return false
  details.cancel()
  details.allowPropagation()
  return true
}

/** The input of SuggestField, for fields that draw more around it. control has what Field passes. */
export function SuggestInput({ suggestions, value, onChange, onChoose, onEnter, control, className = 'input', ...rest }: InputProps) {
  const highlighted = useRef(false)
  // A list that was opened without typing shows all suggestions, not only those like the present value.
  const [typed, setTyped] = useState(false)
  const [open, setOpen] = useState(false)
  const items = matching(suggestions, typed ? value : '')
  return (
    <Base.Root<Suggestion>
      items={suggestions}
      filteredItems={items}
      itemToStringValue={(one) => one.value}
      openOnInputClick
      value={value}
      onItemHighlighted={(one) => (highlighted.current = one !== undefined)}
      // While the list is open the rest of the page is hidden from screen readers, so an empty list must not be open.
      open={open && items.length > 0}
      onOpenChange={(next) => {
        setOpen(next)
        if (!next) setTyped(false)
      }}
      onValueChange={(text, details) => {
        if (keepsOnEscape(details)) return
        setTyped(details.reason === 'input-change')
        if (details.reason === 'item-press' && onChoose) onChoose(text)
        else onChange(text)
      }}
    >
      <Base.Input
        {...rest}
        {...control}
        className={className}
        onBlur={() => {
          rest.onBlur?.()
          // Base UI knows only the shown list, so it does not close one that is open and empty.
          if (items.length === 0) setOpen(false)
        }}
        onKeyDown={(event) => {
          rest.onKeyDown?.(event)
          if (event.key === 'Enter' && !highlighted.current) {
            event.preventDefault()
            setOpen(false)
            onEnter?.()
          }
        }}
      />
      <Base.Portal>
        <Base.Positioner className="layer" sideOffset={4} align="start">
          <Base.Popup className="menu combobox-popup">
            <Base.List>
              {(one: Suggestion) => (
                <Base.Item key={one.value} value={one} className="menu-item">
                  <span className="grow break">
                    {one.value}
                    {one.note && <span className="soft"> {one.note}</span>}
                  </span>
                </Base.Item>
              )}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

/** A text of one line with suggestions: any text is allowed. */
export function SuggestField({ label, hideLabel, hint, error, required, disabledReason, ...input }: FieldLook & Omit<InputProps, 'control'>) {
  return <Field {...{ label, hideLabel, hint, error, required, disabledReason }}>{(control) => <SuggestInput {...input} control={control} />}</Field>
}
