import { Dialog as Base } from '@base-ui/react/dialog'
import { createContext, useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { errorText } from '../api/errors'
import { Button, IconButton } from './button'
import './dialog.css'
import { TextField } from './field'
import { Icons } from './icons'
import { closeOldToasts } from './toasts'

interface DialogProps {
  open: boolean
  onClose: () => void
  title: string
  /** One or two sentences below the title. */
  description?: ReactNode
  children?: ReactNode
  /** Buttons at the bottom right: the quiet one first. In a form put <DialogActions> into the form instead. */
  actions?: ReactNode
  wide?: boolean
  /** Comes from the right and is as high as the window: for a form that needs room, such as that of a strategy. */
  sheet?: boolean
  /** Shows neither the title nor a cross: for a search. */
  bare?: boolean
}

/** The forms of a dialog with input that is not saved, and whether each is being sent. */
export type UnsavedForms = Set<{ pending: boolean }>

/** The dialog around a form: the form notes there that it has input, and leaves the dialog by it. */
export const DialogContext = createContext<{ forms: UnsavedForms; leave: (then: () => void) => void } | undefined>(undefined)

/** Whether leaving would lose input: a form that was sent may close its dialog or go to the next page. */
export const losesInput = (forms: UnsavedForms) => [...forms].some((form) => !form.pending)

/**
 * A modal dialog. The focus goes to its first field. Escape and the cross call onClose, and ask first if a form in it has input that is not
 * saved. A click outside does nothing.
 */
export function Dialog({ open, onClose, title, description, children, actions, wide, sheet, bare }: DialogProps) {
  const popup = useRef<HTMLDivElement>(null)
  const [leaving, setLeaving] = useState<() => void>()
  const context = useMemo(() => {
    const forms: UnsavedForms = new Set()
    return { forms, leave: (then: () => void) => (losesInput(forms) ? setLeaving(() => then) : then()) }
  }, [])
  useEffect(() => {
    if (open) closeOldToasts()
  }, [open])
  const firstField = () =>
    popup.current?.querySelector<HTMLElement>('[data-focus], input:enabled:not([type="radio"]:not(:checked)), button.select:enabled, textarea:enabled') ?? true
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && context.leave(onClose)} disablePointerDismissal>
      <Base.Portal>
        <Base.Backdrop className="dialog-backdrop" />
        <Base.Popup ref={popup} initialFocus={firstField} className={sheet ? 'dialog dialog-sheet' : wide ? 'dialog dialog-wide' : 'dialog'}>
          <div className={bare ? 'visually-hidden' : 'dialog-head'}>
            <Base.Title className="dialog-title">{title}</Base.Title>
            {!bare && <Base.Close render={<IconButton label="Close" icon={<Icons.Close />} />} />}
          </div>
          {description && <Base.Description className="soft">{description}</Base.Description>}
          <DialogContext value={context}>
            {children}
            {actions && <DialogActions>{actions}</DialogActions>}
          </DialogContext>
          {leaving && <DiscardDialog onKeep={() => setLeaving(undefined)} onDiscard={() => (setLeaving(undefined), leaving())} />}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

/** Asks before input that is not saved is lost. */
export function DiscardDialog({ onKeep, onDiscard }: { onKeep: () => void; onDiscard: () => void }) {
  return (
    <Dialog open onClose={onKeep} title="Discard your changes?" description="What you entered is not saved.">
      <DialogActions>
        <Button data-focus="" onClick={onKeep}>
          Keep editing
        </Button>
        <Button variant="danger" onClick={onDiscard}>
          Discard
        </Button>
      </DialogActions>
    </Dialog>
  )
}

/** The line of buttons of a dialog or a form, at its end. sentence says before them what will be, such as whom a strategy selects. */
export function DialogActions({ sentence, children }: { sentence?: ReactNode; children: ReactNode }) {
  return (
    <div className="dialog-actions">
      {sentence && <div className="dialog-sentence grow">{sentence}</div>}
      {children}
    </div>
  )
}

interface ConfirmDialogProps {
  open: boolean
  onClose: () => void
  title: string
  /** What happens, and whether it can be undone. */
  description: ReactNode
  /** The verb of the button: 'Delete token'. */
  action: string
  /** The dialog closes when it succeeds, and shows the error when it fails. */
  onConfirm: () => Promise<unknown>
  /** For what is final: the text to type before the button works. */
  typeToConfirm?: string
  danger?: boolean
  children?: ReactNode
}

/** Asks before something that cannot be undone. For anything else act at once and give the toast an Undo. */
export function ConfirmDialog({ open, onClose, ...rest }: ConfirmDialogProps) {
  return open ? <ConfirmBody open={open} onClose={onClose} {...rest} /> : null
}

/** A question about one of several things: a function that asks it, and the dialog to render. */
export function useConfirm<Item>(questionOf: (item: Item) => Omit<ConfirmDialogProps, 'open' | 'onClose'>): [(item: Item) => void, ReactNode] {
  const [item, ask] = useState<Item>()
  return [ask, item !== undefined && <ConfirmDialog open onClose={() => ask(undefined)} {...questionOf(item)} />]
}

function ConfirmBody({ onClose, title, description, action, onConfirm, typeToConfirm, danger = true, children }: ConfirmDialogProps) {
  const [typed, setTyped] = useState('')
  const [pending, setPending] = useState(false)
  const [error, setError] = useState('')
  const missing = typeToConfirm !== undefined && typed.trim() !== typeToConfirm
  const confirm = async () => {
    setPending(true)
    setError('')
    try {
      await onConfirm()
      onClose()
    } catch (failure) {
      setError(errorText(failure))
    } finally {
      setPending(false)
    }
  }
  return (
    <Dialog open onClose={onClose} title={title} description={description}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (!missing && !pending) void confirm()
        }}
      >
        {children}
        {typeToConfirm !== undefined && <TextField label={`Type ${typeToConfirm} to confirm`} value={typed} onChange={setTyped} maxLength={500} />}
        {error && (
          <p role="alert" className="form-error">
            {error}
          </p>
        )}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant={danger ? 'danger' : 'primary'}
            pending={pending}
            disabledReason={missing ? `Type ${typeToConfirm} above first.` : undefined}
          >
            {action}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
