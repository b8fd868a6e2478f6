import { Select as Base } from '@base-ui/react/select'
import { Suspense, lazy, type ReactNode } from 'react'
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

// Loaded when a list is long.
const SearchedList = lazy(() => import('./searchedlist'))

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
            <Suspense fallback={<span className="input select">{shown}</span>}>
              <SearchedList {...{ trigger, shown, choices, chosen, onChange, disabled, label: look.label }} />
            </Suspense>
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
                        <ChoiceLabel choice={choice} />
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

export const ChoiceLabel = ({ choice }: { choice: Choice }) => (
  <span className="grow break">
    {choice.label}
    {mark(choice)}
    {choice.note && <span className="soft small"> {choice.note}</span>}
  </span>
)
