import { useLayoutEffect } from 'react'

// The shown forms with input that is not saved, and whether each is being sent.
const forms = new Set<{ pending: boolean }>()

/** Notes that a form has input that is not saved, so that leaving the page asks first and an ended session keeps it. */
export function useUnsaved(dirty: boolean, pending: boolean) {
  useLayoutEffect(() => {
    if (!dirty) return
    const form = { pending }
    forms.add(form)
    return () => void forms.delete(form)
  }, [dirty, pending])
}

/** Whether a form has input that is not saved. */
export const hasInput = () => forms.size > 0

/** Whether leaving the page would lose input: a form that was sent may go to the next page. */
export const wouldLoseInput = () => [...forms].some((form) => !form.pending)
