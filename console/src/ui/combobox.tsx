import { Combobox as Base } from '@base-ui/react/combobox'
import type { ReactNode } from 'react'
import { Field, type Choice, type FieldLook } from './field'
import { Icons } from './icons'
import { ProductionMark } from './production'
import { ChoiceLabel } from './select'
import { keepsOnEscape } from './suggest'
import './menu.css'

interface Common extends FieldLook {
  choices: readonly Choice[]
  placeholder?: string
  /** Text when nothing matches what was typed. */
  emptyText?: string
}

/** The list of choices below a field. children stand above them. */
export function ChoiceList({ emptyText = 'Nothing matches.', label, children }: { emptyText?: string; label?: string; children?: ReactNode }) {
  return (
    <Base.Portal>
      <Base.Positioner className="layer" sideOffset={4} align="start">
        <Base.Popup className="menu combobox-popup" aria-label={label}>
          {children}
          <Base.Empty className="menu-empty">{emptyText}</Base.Empty>
          <Base.List>
            {(choice: Choice) => (
              <Base.Item key={choice.value} value={choice} disabled={choice.disabled} className="menu-item">
                <ChoiceLabel choice={choice} />
                <Base.ItemIndicator>
                  <Icons.Check />
                </Base.ItemIndicator>
              </Base.Item>
            )}
          </Base.List>
        </Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  )
}

const mark = ({ production }: Choice) => production && <ProductionMark type="production" />

const sameValue = (a: Choice, b: Choice) => a.value === b.value

/** How many choices a list shows at once. */
const limit = 100

interface ComboboxProps extends Common {
  value: string
  onChange: (value: string) => void
  /** The page finds the choices for what is typed, and keeps the chosen one among them. Otherwise the list filters them. */
  onSearch?: (text: string) => void
}

/** One of many choices, found by typing. value is '' while nothing is chosen. */
export function Combobox({ choices, value, onChange, onSearch, placeholder, emptyText, ...look }: ComboboxProps) {
  return (
    <Field {...look}>
      {(control) => (
        <Base.Root
          items={choices}
          limit={limit}
          {...(onSearch && { filter: null })}
          onInputValueChange={(text, details) => !keepsOnEscape(details) && onSearch?.(text)}
          value={choices.find((choice) => choice.value === value) ?? null}
          onValueChange={(choice: Choice | null, details) => !keepsOnEscape(details) && onChange(choice?.value ?? '')}
          isItemEqualToValue={sameValue}
          disabled={control.disabled}
        >
          <Base.Input {...control} className="input select" placeholder={placeholder} />
          <ChoiceList emptyText={emptyText} />
        </Base.Root>
      )}
    </Field>
  )
}

/** Several of many choices, found by typing and shown as chips. */
export function MultiCombobox({
  choices,
  value,
  onChange,
  placeholder,
  emptyText,
  ...look
}: Common & { value: readonly string[]; onChange: (value: string[]) => void }) {
  const chosen = value.map((one) => choices.find((choice) => choice.value === one) ?? { value: one, label: one })
  return (
    <Field {...look}>
      {(control) => (
        <Base.Root
          multiple
          items={choices}
          limit={limit}
          value={chosen}
          onInputValueChange={(_, details) => void keepsOnEscape(details)}
          onValueChange={(next: Choice[], details) => !keepsOnEscape(details) && onChange(next.map((choice) => choice.value))}
          isItemEqualToValue={sameValue}
          disabled={control.disabled}
        >
          <Base.Chips className="chips-field">
            {chosen.map((choice) => (
              <Base.Chip key={choice.value} className="combobox-chip" aria-label={choice.production ? `${choice.label} Prod` : choice.label}>
                {choice.label} {mark(choice)}
                <Base.ChipRemove aria-label={`Remove ${choice.label}`}>
                  <Icons.Close />
                </Base.ChipRemove>
              </Base.Chip>
            ))}
            <Base.Input {...control} className="input" placeholder={chosen.length ? undefined : placeholder} />
          </Base.Chips>
          <ChoiceList emptyText={emptyText} />
        </Base.Root>
      )}
    </Field>
  )
}
