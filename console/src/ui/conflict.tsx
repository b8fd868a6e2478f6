import type { ReactNode } from 'react'
import { Button } from './button'
import { Dialog } from './dialog'
import { Diff } from './diffview'

interface ConflictDialogProps {
  open: boolean
  onClose: () => void
  /** What was edited: 'strategy', 'segment'. */
  noun: string
  /** Who changed it, if known. */
  who?: string
  /** The version that the form started from, and the one that is stored now. */
  before: unknown
  after: unknown
  /** Takes the stored version into the form. */
  onReload: () => void
  /** Saves again with the ETag of the stored version. */
  onOverwrite: () => void
  pending?: boolean
  /** Above the difference, for example both versions as sentences. */
  children?: ReactNode
}

/** Shown when a change was refused with 412 because someone else changed the same item (isConflict). */
export function ConflictDialog({ open, onClose, noun, who, before, after, onReload, onOverwrite, pending, children }: ConflictDialogProps) {
  return (
    <Dialog
      wide
      open={open}
      onClose={onClose}
      title={`${who ?? 'Someone else'} changed this ${noun} while you were editing it`}
      description="Your change is not saved. Below is what changed since you opened the form."
      actions={
        <>
          <Button onClick={onReload}>Discard mine and reload</Button>
          <Button variant="danger" pending={pending} onClick={onOverwrite}>
            Overwrite with mine
          </Button>
        </>
      }
    >
      {children}
      <Diff before={before} after={after} label={`What changed in the ${noun}`} />
    </Dialog>
  )
}
