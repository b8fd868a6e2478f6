import { useContext, useLayoutEffect } from 'react'
import { DialogContext, losesInput, type UnsavedForms } from '../ui/dialog'

// All shown forms with input that is not saved.
const forms: UnsavedForms = new Set()

/** Notes that a form has input that is not saved, so that leaving its page or dialog asks first and an ended session keeps it. */
export function useUnsaved(dirty: boolean, pending: boolean) {
  const dialog = useContext(DialogContext)
  useLayoutEffect(() => {
    if (!dirty) return
    const form = { pending }
    const lists = dialog ? [forms, dialog.forms] : [forms]
    lists.forEach((list) => list.add(form))
    return () => lists.forEach((list) => list.delete(form))
  }, [dirty, pending, dialog])
}

/** Whether a form has input that is not saved. */
export const hasInput = () => forms.size > 0

/** Whether leaving the page would lose input. */
export const wouldLoseInput = () => losesInput(forms)
