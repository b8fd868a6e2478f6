import { Combobox } from '@base-ui/react/combobox'
import { Select as Base } from '@base-ui/react/select'
import type { ReactNode } from 'react'
import { Field, type Choice, type FieldLook } from './field'
import { Icons } from './icons'
import './menu.css'
import { ProductionMark } from './production'

interface SelectProps<T extends string> extends FieldLook {
  value: T
  onChange: (value: T) => void
  choices: readonly Choice<T>[]
  name?: string
}

// A list with more entries has a search field.
const searchedAbove = 8

/** One of several choices. Above eight the list has a search field. For thousands, and for texts that are none of the choices, use Combobox. */
export function Select<T extends string>({ value, onChange, choices, name: _, ...look }: SelectProps<T>) {
  const chosen = choices.find((choice) => choice.value === value)
  const shown = (
    <>
      <span className="grow select-value">
        {chosen?.label ?? value}
        {chosen && mark(chosen)}
      </span>
      <Icons.Chevron />
    </>
  )
  return (
    <Field {...look}>
      {({ id, disabled, ...control }) => {
        const trigger = { id, ...control, className: 'input select' }
        if (choices.length > searchedAbove)
          return (
            <Combobox.Root
              items={choices}
              value={chosen ?? null}
              onValueChange={(next: Choice<T> | null) => next && onChange(next.value)}
              isItemEqualToValue={(a: Choice<T>, b: Choice<T>) => a.value === b.value}
              disabled={disabled}
            >
              <Combobox.Trigger {...trigger}>{shown}</Combobox.Trigger>
              <Combobox.Portal>
                <Combobox.Positioner className="layer" sideOffset={4} align="start">
                  <Combobox.Popup className="menu combobox-popup" aria-label={look.label}>
                    <Combobox.Input className="input menu-search" placeholder="Search" aria-label={`Search: ${look.label}`} />
                    <Combobox.Empty className="menu-empty">Nothing matches.</Combobox.Empty>
                    <Combobox.List>
                      {(choice: Choice<T>) => (
                        <Combobox.Item key={choice.value} value={choice} disabled={choice.disabled} className="menu-item">
                          <Label choice={choice} />
                          <Combobox.ItemIndicator>
                            <Icons.Check />
                          </Combobox.ItemIndicator>
                        </Combobox.Item>
                      )}
                    </Combobox.List>
                  </Combobox.Popup>
                </Combobox.Positioner>
              </Combobox.Portal>
            </Combobox.Root>
          )
        return (
          <Base.Root value={value} onValueChange={(next) => next !== null && onChange(next)} disabled={disabled} modal={false}>
            <Base.Trigger {...trigger}>{shown}</Base.Trigger>
            <Base.Portal>
              <Base.Positioner className="layer" sideOffset={4} align="start" alignItemWithTrigger={false}>
                <Base.Popup className="menu combobox-popup">
                  {choices.map((choice) => (
                    <Base.Item key={choice.value} value={choice.value} label={choice.label} disabled={choice.disabled} className="menu-item">
                      <Base.ItemText className="grow break">
                        <Label choice={choice} />
                      </Base.ItemText>
                      <Base.ItemIndicator>
                        <Icons.Check />
                      </Base.ItemIndicator>
                    </Base.Item>
                  ))}
                </Base.Popup>
              </Base.Positioner>
            </Base.Portal>
          </Base.Root>
        )
      }}
    </Field>
  )
}

const mark = ({ production }: Choice): ReactNode =>
  production && (
    <>
      {' '}
      <ProductionMark type="production" />
    </>
  )

const Label = ({ choice }: { choice: Choice }) => (
  <span className="grow break">
    {choice.label}
    {mark(choice)}
    {choice.note && <span className="soft small"> {choice.note}</span>}
  </span>
)
