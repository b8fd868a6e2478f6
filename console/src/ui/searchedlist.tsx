import { Combobox } from '@base-ui/react/combobox'
import type { ReactNode } from 'react'
import type { Choice } from './field'
import { Icons } from './icons'
import { ChoiceLabel } from './select'

interface SearchedListProps {
  trigger: { id: string; className: string }
  shown: ReactNode
  choices: readonly Choice[]
  chosen: Choice | undefined
  onChange: (value: never) => void
  disabled?: boolean
  label: string
}

/** The button and the list of a Select with many choices. */
export default function SearchedList({ trigger, shown, choices, chosen, onChange, disabled, label }: SearchedListProps) {
  return (
    <Combobox.Root
      items={choices}
      value={chosen ?? null}
      onValueChange={(next: Choice | null) => next && onChange(next.value as never)}
      isItemEqualToValue={(a: Choice | null, b: Choice | null) => a?.value === b?.value}
      disabled={disabled}
    >
      <Combobox.Trigger {...trigger}>{shown}</Combobox.Trigger>
      <Combobox.Portal>
        <Combobox.Positioner className="layer" sideOffset={4} align="start">
          <Combobox.Popup className="menu combobox-popup" aria-label={label}>
            <Combobox.Input className="input menu-search" placeholder="Search" aria-label={`Search: ${label}`} />
            <Combobox.Empty className="menu-empty">Nothing matches.</Combobox.Empty>
            <Combobox.List>
              {(choice: Choice) => (
                <Combobox.Item key={choice.value} value={choice} disabled={choice.disabled} className="menu-item">
                  <ChoiceLabel choice={choice} />
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
}
