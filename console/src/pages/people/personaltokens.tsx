import { useState } from 'react'
import { useChange, type Schema } from '../../api'
import { FormDialog, useChangeForm } from '../../forms'
import { Badge, Button, DateTime, EmptyState, IconButton, Icons, Select, Table, TextField, useConfirm, usesNoted, type Column } from '../../ui'
import { expiryOf, hasExpired, periods } from './expiry'
import { SecretDialog } from './secretdialog'

type Token = Schema<'AccountToken'>

interface PersonalTokensProps {
  /** Whose tokens they are, as part of a label: 'your personal tokens'. */
  label: string
  tokens: readonly Token[]
  create: (body: Schema<'CreatePersonalTokenRequest'>) => Promise<Schema<'PersonalToken'>>
  remove: (id: number) => Promise<unknown>
  /** Paths to read again after a change. */
  invalidates: string[]
  disabledReason?: string
  children?: React.ReactNode
}

/** The personal tokens of a user or a service account: create one, see its secret once, delete one. */
export function PersonalTokens({ label, tokens, create, remove, invalidates, disabledReason, children }: PersonalTokensProps) {
  const [creating, setCreating] = useState(false)
  const [created, setCreated] = useState<Schema<'PersonalToken'>>()
  const deletion = useChange({
    change: ({ id }: Token) => remove(id),
    invalidates,
    success: (_, { description }) => `Token ${description} deleted`,
    showsErrors: true,
  })
  const [askRemove, question] = useConfirm((token: Token) => ({
    title: `Delete token ${token.description}?`,
    description: 'Requests with it are refused immediately. This cannot be undone.',
    action: 'Delete token',
    onConfirm: () => deletion.mutateAsync(token),
  }))
  const columns: Column<Token>[] = [
    { id: 'description', header: 'Description', cell: (token) => <span className="strong break">{token.description}</span> },
    {
      id: 'expires',
      header: 'Expires',
      cell: (token) => (hasExpired(token.expiresAt) ? <Badge kind="danger">Expired</Badge> : <DateTime value={token.expiresAt} absolute />),
    },
    { id: 'seen', header: 'Last used', cell: (token) => <DateTime value={token.seenAt} noted={usesNoted} /> },
    {
      id: 'actions',
      header: 'Actions',
      hideHeader: true,
      align: 'right',
      width: '48px',
      cell: (token) => (
        <IconButton label={`Delete token ${token.description}`} icon={<Icons.Trash />} disabledReason={disabledReason} onClick={() => askRemove(token)} />
      ),
    },
  ]
  const button = (
    <Button icon={<Icons.Plus />} disabledReason={disabledReason} onClick={() => setCreating(true)}>
      Create token
    </Button>
  )
  return (
    <div className="stack">
      {tokens.length > 0 && <div className="row">{button}</div>}
      <Table
        label={label}
        columns={columns}
        rows={tokens}
        rowKey={(token) => token.id}
        empty={
          <EmptyState icon={<Icons.Key />} title="No personal tokens" action={button}>
            {children}
          </EmptyState>
        }
      />
      {creating && (
        <CreateDialog
          create={create}
          invalidates={invalidates}
          onClose={() => setCreating(false)}
          onCreated={(token) => (setCreating(false), setCreated(token))}
        />
      )}
      {created && (
        <SecretDialog
          title={`Token ${created.description}`}
          label="Secret of the token"
          secret={created.secret ?? ''}
          once
          onClose={() => setCreated(undefined)}
        >
          Send it in the header <code>Authorization</code> of requests to the API.
        </SecretDialog>
      )}
      {question}
    </div>
  )
}

interface CreateDialogProps {
  create: PersonalTokensProps['create']
  invalidates: string[]
  onClose: () => void
  onCreated: (token: Schema<'PersonalToken'>) => void
}

function CreateDialog({ create, invalidates, onClose, onCreated }: CreateDialogProps) {
  const form = useChangeForm({
    initial: { description: '', days: '90' },
    pointers: { days: '/expiresAt' },
    nameField: 'description',
    change: ({ description, days }) => create({ description: description.trim(), expiresAt: expiryOf(days)! }),
    invalidates,
    onSuccess: onCreated,
  })
  return (
    <FormDialog form={form} title="Create personal token" submit="Create token" onClose={onClose}>
      <TextField
        label="Description"
        required
        maxLength={255}
        placeholder="Terraform on my machine"
        hint="What the token is for."
        {...form.field('description')}
      />
      <Select label="Valid for" choices={periods} {...form.field('days')} />
    </FormDialog>
  )
}
