import { useState, type ReactNode } from 'react'
import { ApiError, errorText } from '../../../api'
import { FormDialog, useForm } from '../../../forms'
import { Notice, TextField, toast } from '../../../ui'

interface Refused {
  text: string
  action: string
  again: (reason: string) => Promise<unknown>
}

const isFiring = (error: unknown) => error instanceof ApiError && error.status === 409 && /\bis firing\b/.test(error.message)

/** Makes a change of a plan. If it is refused because a signal fires, it asks why it is to be made anyway. Render the dialog. */
export function useAnyway(): [(action: string, send: (force?: string) => Promise<unknown>) => Promise<void>, ReactNode] {
  const [refused, setRefused] = useState<Refused>()
  const attempt = async (action: string, send: (force?: string) => Promise<unknown>) => {
    try {
      await send()
    } catch (error) {
      if (isFiring(error)) setRefused({ text: errorText(error).replace(' (force)', ''), action, again: send })
      else toast.error(errorText(error))
    }
  }
  return [attempt, refused && <Anyway refused={refused} onClose={() => setRefused(undefined)} />]
}

function Anyway({ refused: { text, action, again }, onClose }: { refused: Refused; onClose: () => void }) {
  const form = useForm({
    initial: { reason: '' },
    check: ({ reason }) => ({ reason: reason.trim() ? '' : 'Enter the reason.' }),
    submit: async ({ reason }) => {
      await again(reason.trim())
      onClose()
    },
    pointers: { reason: '/force' },
  })
  return (
    <FormDialog form={form} danger title={`${action}?`} submit={action} onClose={onClose}>
      <Notice kind="danger">{text}</Notice>
      <TextField label="Reason" required maxLength={1000} hint="The audit log shows it." {...form.field('reason')} />
    </FormDialog>
  )
}
