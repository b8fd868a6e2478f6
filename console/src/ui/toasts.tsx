import { Toast } from '@base-ui/react/toast'
import { errorText } from '../api/errors'
import { Button, IconButton } from './button'
import { Icons } from './icons'
import './toasts.css'

type Kind = 'success' | 'error' | 'info'

interface Action {
  label: string
  run: () => void
}

const manager = Toast.createToastManager<{ action?: Action }>()

// The messages that are shown, and since when.
const shown = new Map<string, number>()

function add(type: Kind, description: string, action?: Action) {
  // An older error is about an earlier attempt, and an older message that begins with the same name is about what was before.
  const subject = type === 'error' ? 'error' : description.split(/[ :]/, 1)[0]
  manager.close('error')
  manager.close(subject)
  const id: string = manager.add({
    id: subject,
    type,
    description,
    timeout: type === 'error' ? 0 : action ? 12_000 : 5_000,
    data: { action: action && { ...action, run: () => (manager.close(id), action.run()) } },
    onRemove: () => shown.delete(id),
  })
  shown.set(id, performance.now())
}

// The page that a change leads to has the message about it.
const sameStep = 1000

/** Closes the messages about what was done before the page or the form that is opened now. */
export function closeOldToasts() {
  for (const [id, since] of shown) if (performance.now() - since > sameStep) manager.close(id)
}

async function takeBack(text: string, undo: () => Promise<unknown>) {
  try {
    await undo()
    toast.info(`“${text}” was undone`)
  } catch (error) {
    toast.error(`Not undone. ${errorText(error)}`)
  }
}

/** Short messages at the bottom of the page: toast.success('Flag archived', { undo: () => … }). Errors stay until closed. */
export const toast = {
  success: (text: string, { undo }: { undo?: () => Promise<unknown> } = {}) =>
    add('success', text, undo && { label: 'Undo', run: () => void takeBack(text, undo) }),
  info: (text: string) => add('info', text),
  error: (text: string, { action }: { action?: Action } = {}) => add('error', text, action),
}

/** Shows the toasts. The shell has it once. They stay while the pointer or the focus is on them, and F6 leads to them. */
export function Toasts() {
  return (
    <Toast.Provider toastManager={manager} limit={2}>
      <Toast.Viewport className="toasts" aria-label="Messages">
        <List />
      </Toast.Viewport>
    </Toast.Provider>
  )
}

const icons = { success: Icons.Check, error: Icons.Warning, info: Icons.Info }

function List() {
  return Toast.useToastManager<{ action?: Action }>().toasts.map((shown) => {
    const Icon = icons[shown.type as Kind]
    return (
      <Toast.Root key={shown.id} toast={shown} role={shown.type === 'error' ? 'alert' : 'group'} aria-modal={undefined} className={`toast toast-${shown.type}`}>
        <span className="toast-icon">
          <Icon />
        </span>
        <Toast.Description render={<span />} className="grow break" />
        {shown.data?.action && (
          <Button size="small" onClick={shown.data.action.run}>
            {shown.data.action.label}
          </Button>
        )}
        <Toast.Close aria-hidden={false} render={<IconButton size="small" label="Close message" icon={<Icons.Close />} />} />
      </Toast.Root>
    )
  })
}
