import { Combobox } from '@base-ui/react/combobox'
import type { ReactNode } from 'react'
import { ChoiceList } from './combobox'
import type { Choice } from './field'

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
      <ChoiceList label={label}>
        <Combobox.Input className="input menu-search" placeholder="Search" aria-label={`Search: ${label}`} />
      </ChoiceList>
    </Combobox.Root>
  )
}
