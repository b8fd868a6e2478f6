// @vitest-environment jsdom
import { cleanup, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { afterEach, expect, test } from 'vitest'
import { ApiError } from '../api/errors'
import { TextField } from '../ui/field'
import { FormActions, useForm } from './useform'

afterEach(cleanup)

function Form({ submit }: { submit: (values: { name: string; rollout: string }) => Promise<unknown> }) {
  const form = useForm({ initial: { name: '', rollout: '' }, submit, nameField: 'name', pointers: { rollout: '/parameters/rollout' } })
  return (
    <form {...form.props}>
      <TextField label="Name" {...form.field('name')} />
      <TextField label="Rollout" {...form.field('rollout')} />
      <FormActions form={form} submit="Save" />
    </form>
  )
}

const refuse = (error: Error) => () => Promise.reject(error)

test('errors of the server appear at their fields and go with the next change', async () => {
  const error = new ApiError(400, 'ValidationError', 'x', [
    { message: 'is required', path: '/name' },
    { message: 'must be a number', path: '/parameters/rollout' },
    { message: 'is unknown', path: '/constraints/0' },
  ])
  render(<Form submit={refuse(error)} />)
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  const name = screen.getByLabelText('Name')
  expect(name.getAttribute('aria-invalid')).toBe('true')
  expect(document.activeElement).toBe(name)
  expect(document.getElementById(name.getAttribute('aria-describedby')!)!.textContent).toBe('Is required.')
  expect(screen.getByText('Must be a number.')).toBeTruthy()
  expect(screen.getByRole('alert').textContent).toBe('/constraints/0: Is unknown.')
  await userEvent.type(name, 'a')
  expect(name.getAttribute('aria-invalid')).toBeNull()
  expect(screen.getByText('Must be a number.')).toBeTruthy()
})

test('a name that exists is an error of the name', async () => {
  render(<Form submit={refuse(new ApiError(409, 'NameExistsError', 'a flag with this name exists', []))} />)
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  expect(screen.getByLabelText('Name').getAttribute('aria-invalid')).toBe('true')
  expect(screen.getByText('A flag with this name exists.')).toBeTruthy()
  expect(screen.queryByRole('alert')).toBeNull()
})

test('other errors appear above the buttons, and values are sent as typed', async () => {
  const sent: unknown[] = []
  const submit = (values: unknown) => {
    sent.push(values)
    return sent.length === 1 ? Promise.reject(new Error('broken')) : Promise.resolve()
  }
  render(<Form submit={submit} />)
  await userEvent.type(screen.getByLabelText('Name'), 'checkout')
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  expect(screen.getByRole('alert').textContent).toBe('Broken.')
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  expect(screen.queryByRole('alert')).toBeNull()
  expect(sent).toEqual([
    { name: 'checkout', rollout: '' },
    { name: 'checkout', rollout: '' },
  ])
})

test('a form that is reset while it is sent has nothing to save', async () => {
  function Reset() {
    const form = useForm({ initial: { text: '' }, submit: async (): Promise<void> => form.reset() })
    return (
      <form {...form.props}>
        <TextField label="Text" {...form.field('text')} />
        <FormActions form={form} submit="Send" />
        {form.dirty && <p>not saved</p>}
      </form>
    )
  }
  render(<Reset />)
  await userEvent.type(screen.getByLabelText('Text'), 'a')
  expect(screen.getByText('not saved')).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: 'Send' }))
  expect((screen.getByLabelText('Text') as HTMLInputElement).value).toBe('')
  expect(screen.queryByText('not saved')).toBeNull()
})
