import { Button, CodeBlock, Dialog, Notice } from '../../ui'
import type { ReactNode } from 'react'

interface SecretDialogProps {
  title: string
  /** What the secret is, for screen readers: 'Secret of the token'. */
  label: string
  secret: string
  /** What to do with it. */
  children?: ReactNode
  /** Whether the server never shows it again. */
  once?: boolean
  onClose: () => void
}

/** Shows a secret right after it was created, with a button to copy it. */
export function SecretDialog({ title, label, secret, children, once, onClose }: SecretDialogProps) {
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      actions={
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <div className="stack">
        {once && <Notice kind="warn">Copy it now. It is not shown again.</Notice>}
        <CodeBlock code={secret} label={label} wrap />
        {children && <div className="soft">{children}</div>}
      </div>
    </Dialog>
  )
}
