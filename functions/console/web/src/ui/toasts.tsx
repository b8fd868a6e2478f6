import { Toast } from '@base-ui/react/toast'
import { errorText } from '../api/errors'
import { Button, IconButton } from './button'
import { Icons } from './icons'
import './toasts.css'

type Kind = 'success' | 'error' | 'info'

const manager = Toast.createToastManager<{ undo?: () => void }>()

function add(type: Kind, description: string, undo?: () => Promise<unknown>) {
  // An older error is about an earlier attempt.
  manager.close('error')
  const id = manager.add({
    id: type === 'error' ? 'error' : undefined,
    type,
    description,
    timeout: type === 'error' ? 0 : undo ? 12_000 : 5_000,
    data: {
      undo: undo && (() => void takeBack(id, undo)),
    },
  })
}

async function takeBack(id: string, undo: () => Promise<unknown>) {
  manager.close(id)
  try {
    await undo()
    toast.info('Undone.')
  } catch (error) {
    toast.error(`Not undone. ${errorText(error)}`)
  }
}

/** Short messages at the top of the page: toast.success('Flag archived', { undo: () => … }). Errors stay until closed. */
export const toast = {
  success: (text: string, options?: { undo?: () => Promise<unknown> }) => add('success', text, options?.undo),
  info: (text: string) => add('info', text),
  error: (text: string) => add('error', text),
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
  return Toast.useToastManager<{ undo?: () => void }>().toasts.map((shown) => {
    const Icon = icons[shown.type as Kind]
    return (
      <Toast.Root key={shown.id} toast={shown} role={shown.type === 'error' ? 'alert' : 'group'} className={`toast toast-${shown.type}`}>
        <span className="toast-icon">
          <Icon />
        </span>
        <Toast.Description render={<span />} className="grow break" />
        {shown.data?.undo && (
          <Button size="small" onClick={shown.data.undo}>
            Undo
          </Button>
        )}
        <Toast.Close aria-hidden={false} render={<IconButton size="small" label="Close message" icon={<Icons.Close />} />} />
      </Toast.Root>
    )
  })
}
