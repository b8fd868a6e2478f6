// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { toast, Toasts } from './toasts'

afterEach(() => {
  cleanup()
  vi.useRealTimers()
})

test('a message goes by itself, but not while the pointer is on it', () => {
  vi.useFakeTimers()
  render(<Toasts />)
  act(() => void toast.success('Flag archived'))
  const region = screen.getByRole('region', { name: 'Messages' })
  expect(region.getAttribute('aria-live')).toBe('polite')
  expect(screen.getByRole('group').hasAttribute('aria-modal')).toBe(false)
  fireEvent.mouseEnter(region)
  act(() => void vi.advanceTimersByTime(60_000))
  expect(screen.getByText('Flag archived')).toBeTruthy()
  fireEvent.mouseLeave(region)
  act(() => void vi.advanceTimersByTime(6_000))
  expect(screen.queryByText('Flag archived')).toBeNull()
})

test('Undo takes the change back and says so, or says why not', async () => {
  render(<Toasts />)
  act(() => void toast.success('Switched on', { undo: () => Promise.resolve() }))
  fireEvent.click(screen.getByRole('button', { name: 'Undo' }))
  expect(await screen.findByText('“Switched on” was undone')).toBeTruthy()
  act(() => void toast.success('Switched off', { undo: () => Promise.reject(new Error('no permission')) }))
  fireEvent.click(screen.getByRole('button', { name: 'Undo' }))
  expect((await screen.findByRole('alert')).textContent).toBe('Not undone. No permission.')
})

test('an error stays until it is closed, or until the next attempt', () => {
  vi.useFakeTimers()
  render(<Toasts />)
  act(() => void toast.error('It failed.'))
  act(() => void vi.advanceTimersByTime(600_000))
  expect(screen.getByRole('alert').textContent).toBe('It failed.')
  act(() => void toast.error('It failed again.'))
  expect(screen.getAllByRole('alert').map((alert) => alert.textContent)).toEqual(['It failed again.'])
  act(() => void toast.success('It worked.'))
  expect(screen.queryByRole('alert')).toBeNull()
  expect(screen.getByText('It worked.')).toBeTruthy()
})
