import { useBlocker } from '@tanstack/react-router'
import { wouldLoseInput } from '../forms/unsaved'
import { DiscardDialog } from '../ui'

/** Asks before a page is left, by a link or by Back, while a form has input that is not saved. The shell has it once. */
export function LeaveGuard() {
  const blocker = useBlocker({
    // Filters and open dialogs are in the address too: only another page, and Back, lose input.
    shouldBlockFn: ({ current, next, action }) => (current.pathname !== next.pathname || !['PUSH', 'REPLACE'].includes(action)) && wouldLoseInput(),
    enableBeforeUnload: wouldLoseInput,
    withResolver: true,
  })
  return blocker.status === 'blocked' && <DiscardDialog onKeep={blocker.reset} onDiscard={blocker.proceed} />
}
