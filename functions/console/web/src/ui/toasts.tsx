import { useEffect, useSyncExternalStore } from 'react'
import { errorText } from '../api/errors'
import { Button, IconButton } from './button'
import { Icons } from './icons'
import './toasts.css'

interface Toast {
  id: number
  kind: 'success' | 'error' | 'info'
  text: string
  undo?: () => Promise<unknown>
}

const limit = 2
let toasts: Toast[] = []
let nextId = 1
const listeners = new Set<() => void>()

function set(next: Toast[]) {
  toasts = next
  listeners.forEach((listener) => listener())
}

function add(kind: Toast['kind'], text: string, options?: { undo?: Toast['undo'] }) {
  // An older error is about an earlier attempt.
  const kept = toasts.filter((one) => one.kind !== 'error')
  set([{ id: nextId++, kind, text, undo: options?.undo }, ...kept].slice(0, limit))
}

/** Short messages at the top of the page: toast.success('Flag archived', { undo: () => … }). Errors stay until closed. */
export const toast = {
  success: (text: string, options?: { undo?: () => Promise<unknown> }) => add('success', text, options),
  info: (text: string) => add('info', text),
  error: (text: string) => add('error', text),
  close: (id: number) => set(toasts.filter((one) => one.id !== id)),
  clear: () => set([]),
}

/** Shows the toasts. The shell has it once. */
export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
  )
  return (
    <div className="toasts" role="region" aria-label="Messages">
      <div role="status" aria-live="polite">
        {shown
          .filter((one) => one.kind !== 'error')
          .map((one) => (
            <ToastView key={one.id} toast={one} />
          ))}
      </div>
      <div role="alert">
        {shown
          .filter((one) => one.kind === 'error')
          .map((one) => (
            <ToastView key={one.id} toast={one} />
          ))}
      </div>
    </div>
  )
}

function ToastView({ toast: shown }: { toast: Toast }) {
  const stays = shown.kind === 'error'
  useEffect(() => {
    if (stays) return
    const timer = setTimeout(() => toast.close(shown.id), shown.undo ? 12_000 : 5_000)
    return () => clearTimeout(timer)
  }, [shown, stays])
  const undo = async () => {
    toast.close(shown.id)
    try {
      await shown.undo?.()
      toast.info('Undone.')
    } catch (error) {
      toast.error(`Not undone. ${errorText(error)}`)
    }
  }
  return (
    <div className={`toast toast-${shown.kind}`}>
      <span className="toast-icon">{shown.kind === 'success' ? <Icons.Check /> : shown.kind === 'error' ? <Icons.Warning /> : <Icons.Info />}</span>
      <span className="grow break">{shown.text}</span>
      {shown.undo && (
        <Button size="small" onClick={undo}>
          Undo
        </Button>
      )}
      <IconButton size="small" label="Close message" icon={<Icons.Close />} onClick={() => toast.close(shown.id)} />
    </div>
  )
}
