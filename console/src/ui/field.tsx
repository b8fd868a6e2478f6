import { useId, type ComponentProps, type ReactNode } from 'react'
import './field.css'

/** What every field has. useForm's field(name) gives value, onChange and error. */
export interface FieldLook {
  label: string
  /** Hides the label from view, for fields in tables and toolbars. */
  hideLabel?: boolean
  /** One sentence below the field. */
  hint?: ReactNode
  /** Message of the server for this field. */
  error?: string
  required?: boolean
  /** Why the field cannot be changed. */
  disabledReason?: string
}

interface FieldProps extends FieldLook {
  children: (control: { id: string; 'aria-invalid'?: true; 'aria-describedby'?: string; disabled?: boolean }) => ReactNode
}

/** Label, hint and error around any control: <Field label="Name">{(control) => <input {...control} />}</Field>. */
export function Field({ label, hideLabel, hint, error, required, disabledReason, children }: FieldProps) {
  const id = useId()
  const note = disabledReason ?? hint
  const describedBy = [error && `${id}-error`, note && `${id}-hint`].filter(Boolean).join(' ')
  return (
    <div className="field">
      <label htmlFor={id} className={hideLabel ? 'visually-hidden' : 'field-label'}>
        {label}
        {required && !hideLabel && <span className="soft"> (required)</span>}
      </label>
      {children({ id, 'aria-invalid': error ? true : undefined, 'aria-describedby': describedBy || undefined, disabled: disabledReason ? true : undefined })}
      {error && (
        <p id={`${id}-error`} className="field-error">
          {error}
        </p>
      )}
      {note && (
        <p id={`${id}-hint`} className="field-hint">
          {note}
        </p>
      )}
    </div>
  )
}

type Control<Element extends 'input' | 'textarea'> = Omit<ComponentProps<Element>, 'onChange' | 'value' | 'id' | 'disabled'>
type Value<T> = { value: T; onChange: (value: T) => void }

// The properties of the field around a control, and those of the control.
function split<T extends FieldLook>({ label, hideLabel, hint, error, required, disabledReason, ...rest }: T) {
  return [{ label, hideLabel, hint, error, required, disabledReason }, rest] as const
}

/** A text of one line. */
export function TextField(props: FieldLook & Value<string> & Control<'input'>) {
  const [look, { value, onChange, className = '', ...more }] = split(props)
  return (
    <Field {...look}>
      {(control) => (
        <input
          type="text"
          autoComplete="off"
          {...more}
          {...control}
          className={`input ${className}`}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}

/** A text of several lines. */
export function TextArea(props: FieldLook & Value<string> & Control<'textarea'>) {
  const [look, { value, onChange, className = '', ...more }] = split(props)
  return (
    <Field {...look}>
      {(control) => (
        <textarea rows={3} {...more} {...control} className={`input ${className}`} value={value} onChange={(event) => onChange(event.target.value)} />
      )}
    </Field>
  )
}

/** A number; null while the field is empty. */
export function NumberField(props: FieldLook & Value<number | null> & Control<'input'> & { unit?: string }) {
  const [look, { value, onChange, unit, ...more }] = split(props)
  return (
    <Field {...look}>
      {(control) => (
        <span className="input-with-unit">
          <input
            type="number"
            {...more}
            {...control}
            className="input number"
            value={value ?? ''}
            onChange={(event) => onChange(event.target.value === '' ? null : event.target.valueAsNumber)}
          />
          {unit && <span className="soft">{unit}</span>}
        </span>
      )}
    </Field>
  )
}

/** One choice of Select. */
export interface Choice<T extends string = string> {
  value: T
  label: string
  disabled?: boolean
  /** An environment of type production, which is marked. */
  production?: boolean
  /** Soft text after the label in the list: what kind of choice it is. */
  note?: string
}

/** A search field without a visible label, for toolbars. */
export function SearchField({ label, value, onChange, ...more }: { label: string } & Value<string> & Control<'input'>) {
  return (
    <input
      type="search"
      autoComplete="off"
      placeholder={label}
      {...more}
      aria-label={label}
      className="input search-field"
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

interface CheckboxProps {
  label: ReactNode
  checked: boolean
  onChange: (checked: boolean) => void
  hint?: ReactNode
  hideLabel?: boolean
  indeterminate?: boolean
  disabledReason?: string
}

/** A checkbox with its label. */
export function Checkbox({ label, checked, onChange, hint, hideLabel, indeterminate = false, disabledReason }: CheckboxProps) {
  const id = useId()
  const note = disabledReason ?? hint
  return (
    <div className="checkbox">
      <label className="checkbox-label">
        <input
          ref={(element) => {
            if (element) element.indeterminate = indeterminate
          }}
          type="checkbox"
          checked={checked}
          disabled={Boolean(disabledReason)}
          aria-describedby={note ? id : undefined}
          onChange={(event) => onChange(event.target.checked)}
        />
        <span className={hideLabel ? 'visually-hidden' : undefined}>{label}</span>
      </label>
      {note && (
        <p id={id} className="field-hint">
          {note}
        </p>
      )}
    </div>
  )
}

interface RadioGroupProps<T extends string> extends Value<T> {
  label: string
  choices: readonly { value: T; label: string; hint?: string }[]
  error?: string
  disabledReason?: string
}

/** One of two to five choices that need an explanation each. */
export function RadioGroup<T extends string>({ label, choices, value, onChange, error, disabledReason }: RadioGroupProps<T>) {
  const id = useId()
  return (
    <fieldset className="field" disabled={Boolean(disabledReason)} aria-describedby={error || disabledReason ? `${id}-note` : undefined}>
      <legend className="field-label">{label}</legend>
      {choices.map((choice) => (
        <div key={choice.value} className="checkbox">
          <label className="checkbox-label">
            <input
              type="radio"
              name={id}
              value={choice.value}
              checked={choice.value === value}
              aria-describedby={choice.hint ? `${id}-${choice.value}` : undefined}
              onChange={() => onChange(choice.value)}
            />
            <span>{choice.label}</span>
          </label>
          {choice.hint && (
            <p id={`${id}-${choice.value}`} className="field-hint">
              {choice.hint}
            </p>
          )}
        </div>
      ))}
      {(error || disabledReason) && (
        <p id={`${id}-note`} className={error ? 'field-error' : 'field-hint'}>
          {error ?? disabledReason}
        </p>
      )}
    </fieldset>
  )
}
