// @vitest-environment jsdom
import { cleanup, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { afterEach, expect, test } from 'vitest'
import { SuggestField } from './suggest'

afterEach(cleanup)

function Filter() {
  const [value, setValue] = useState('')
  return (
    <>
      <SuggestField label="Person" suggestions={[{ value: 'ada' }, { value: 'bo' }]} value={value} onChange={setValue} />
      <button onClick={() => setValue('')}>Clear filters</button>
    </>
  )
}

test('the list stays closed when the value is cleared from outside', async () => {
  render(<Filter />)
  const person = screen.getByRole('combobox', { name: 'Person' })
  await userEvent.type(person, 'ad')
  expect(screen.getByRole('option', { name: 'ada' })).toBeTruthy()
  // The complete name has no suggestion left.
  await userEvent.type(person, 'a')
  expect(screen.queryByRole('listbox')).toBeNull()
  await userEvent.click(screen.getByRole('button', { name: 'Clear filters' }))
  expect((person as HTMLInputElement).value).toBe('')
  expect(screen.queryByRole('option')).toBeNull()
  expect(person.getAttribute('aria-expanded')).toBe('false')
})

test('suggestions that arrive later are shown while the person types', async () => {
  const { rerender } = render(<SuggestField label="Flag" suggestions={[]} value="" onChange={() => {}} />)
  const flag = screen.getByRole('combobox', { name: 'Flag' })
  await userEvent.type(flag, 'c')
  expect(screen.queryByRole('option')).toBeNull()
  rerender(<SuggestField label="Flag" suggestions={[{ value: 'checkout' }]} value="c" onChange={() => {}} />)
  expect(screen.getByRole('option', { name: 'checkout' })).toBeTruthy()
})
