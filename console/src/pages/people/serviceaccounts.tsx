import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { accountName, api, apiQuery, useChange, useMe, type Schema } from '../../api'
import { FormActions, useForm } from '../../forms'
import { Page, useUrlState } from '../../shell'
import {
  ActionMenu,
  Badge,
  Button,
  ConfirmDialog,
  DateTime,
  Dialog,
  EmptyState,
  ErrorState,
  Icons,
  Pagination,
  Select,
  Table,
  TextField,
  plural,
  toast,
  type Column,
} from '../../ui'
import { pageOf, pageSize } from '../settings/paged'
import { useRootRoles } from './account'
import { PersonalTokens } from './personaltokens'

type ServiceAccount = Schema<'ServiceAccount'>

const path = '/api/admin/service-account'

/** Accounts of scripts and pipelines, with their tokens. */
export default function ServiceAccountsPage() {
  const me = useMe()
  const roles = useRootRoles()
  const accounts = useQuery(apiQuery(path))
  const [view, setView] = useUrlState({ offset: 0, create: false, edit: 0, tokens: 0 })
  const [removed, setRemoved] = useState<ServiceAccount>()
  const deletion = useChange({
    change: (account: ServiceAccount) => api.delete('/api/admin/service-account/{userId}', { path: { userId: account.id } }),
    invalidates: [path, '/api/admin/projects'],
    showsErrors: true,
  })
  const reason = me.can('ADMIN').reason
  const all = accounts.data?.serviceAccounts ?? []
  const shown = pageOf(all, view.offset)
  const edited = all.find((account) => account.id === view.edit)
  const opened = all.find((account) => account.id === view.tokens)
  const columns: Column<ServiceAccount>[] = [
    {
      id: 'name',
      header: 'Name',
      cell: (account) => (
        <span>
          <span className="strong break">{accountName(account)}</span> <span className="soft break">{account.username}</span>
        </span>
      ),
    },
    { id: 'role', header: 'Role', cell: (account) => <Badge kind={account.rootRole === 1 ? 'accent' : 'neutral'}>{roles.nameOf(account.rootRole)}</Badge> },
    {
      id: 'tokens',
      header: 'Tokens',
      cell: (account) => (
        <Button variant="quiet" onClick={() => setView({ tokens: account.id }, { push: true })} aria-label={`Tokens of ${accountName(account)}`}>
          {plural(account.tokens.length, 'token')}
        </Button>
      ),
    },
    { id: 'created', header: 'Created', cell: (account) => <DateTime value={account.createdAt} /> },
    {
      id: 'actions',
      header: 'Actions',
      hideHeader: true,
      align: 'right',
      width: '48px',
      cell: (account) => (
        <ActionMenu
          label={`Actions for ${accountName(account)}`}
          entries={[
            { label: 'Tokens', icon: <Icons.Key />, onSelect: () => setView({ tokens: account.id }, { push: true }) },
            { label: 'Edit', icon: <Icons.Edit />, onSelect: () => setView({ edit: account.id }, { push: true }), disabledReason: reason },
            'separator',
            { label: 'Delete', icon: <Icons.Trash />, danger: true, onSelect: () => setRemoved(account), disabledReason: reason },
          ]}
        />
      ),
    },
  ]
  const button = (
    <Button variant="primary" icon={<Icons.Plus />} disabledReason={reason} onClick={() => setView({ create: true }, { push: true })}>
      Create service account
    </Button>
  )
  return (
    <Page
      title="Service accounts"
      description="Accounts of scripts and pipelines. They have tokens and roles, and cannot sign in."
      actions={all.length > 0 && button}
    >
      {accounts.error ? (
        <ErrorState error={accounts.error} onRetry={() => void accounts.refetch()} />
      ) : (
        <div className="stack">
          <Table
            label="Service accounts"
            columns={columns}
            rows={shown.rows}
            rowKey={(account) => account.id}
            loading={accounts.isPending}
            empty={
              <EmptyState icon={<Icons.Robot />} title="No service accounts yet" action={button}>
                Create one for Terraform or a pipeline that changes flags. An application that only reads flags needs an API token instead.
              </EmptyState>
            }
          />
          <Pagination offset={shown.offset} limit={pageSize} total={all.length} noun="service accounts" onChange={(offset) => setView({ offset })} />
        </div>
      )}
      {view.create && <AccountDialog onClose={() => setView({ create: false })} onCreated={(id) => setView({ create: false, tokens: id })} />}
      {edited && !view.create && <AccountDialog key={edited.id} account={edited} onClose={() => setView({ edit: 0 })} />}
      {opened && !view.create && <TokensDialog account={opened} reason={reason} onClose={() => setView({ tokens: 0 })} />}
      {removed && (
        <ConfirmDialog
          open
          onClose={() => setRemoved(undefined)}
          title={`Delete service account ${accountName(removed)}?`}
          description={`Its ${plural(removed.tokens.length, 'token')} and its roles end at once. This cannot be undone.`}
          action="Delete service account"
          typeToConfirm={removed.username || accountName(removed)}
          onConfirm={async () => {
            await deletion.mutateAsync(removed)
            toast.success(`Service account ${accountName(removed)} deleted`)
          }}
        />
      )}
    </Page>
  )
}

function AccountDialog({ account, onClose, onCreated }: { account?: ServiceAccount; onClose: () => void; onCreated?: (id: number) => void }) {
  const roles = useRootRoles()
  interface Values {
    name: string
    username: string
    rootRole: string
  }
  const bodyOf = ({ name, username, rootRole }: Values) => ({ name: name.trim(), username: username.trim(), rootRole: Number(rootRole) })
  const creation = (values: Values) => api.request.post(path, { body: bodyOf(values) })
  const update = (values: Values, userId: number) => api.request.put('/api/admin/service-account/{userId}', { path: { userId }, body: bodyOf(values) })
  const save = useChange({
    change: async (values: Values) => (account ? void (await api.send(update(values, account.id))) : (await api.send(creation(values))).id),
    invalidates: [path, '/api/admin/projects'],
    success: account ? 'Service account saved' : undefined,
    onSuccess: (id) => (id === undefined ? onClose() : onCreated?.(id)),
    showsErrors: true,
  })
  const form = useForm({
    initial: { name: account?.name ?? '', username: account?.username ?? '', rootRole: String(account?.rootRole ?? 3) },
    submit: (values) => save.mutateAsync(values),
  })
  return (
    <Dialog open onClose={onClose} title={account ? `Service account ${accountName(account)}` : 'Create service account'}>
      <form {...form.props}>
        <TextField label="Name" required maxLength={100} placeholder="Terraform" {...form.field('name')} />
        <TextField label="User name" required maxLength={100} placeholder="terraform" hint="The audit log shows this name." {...form.field('username')} />
        <Select
          label="Role in the whole service"
          choices={roles.choices}
          hint={roles.descriptionOf(Number(form.values.rootRole)) || undefined}
          {...form.field('rootRole')}
        />
        <FormActions form={form} submit={account ? 'Save' : 'Create service account'} onCancel={onClose} />
      </form>
    </Dialog>
  )
}

function TokensDialog({ account, reason, onClose }: { account: ServiceAccount; reason?: string; onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} wide title={`Tokens of ${accountName(account)}`}>
      <PersonalTokens
        label={`Tokens of ${accountName(account)}`}
        tokens={account.tokens}
        invalidates={[path]}
        disabledReason={reason}
        create={(body) => api.post('/api/admin/service-account/{userId}/token', { path: { userId: account.id }, body })}
        remove={(tokenId) => api.delete('/api/admin/service-account/{userId}/token/{tokenId}', { path: { userId: account.id, tokenId } })}
      >
        Create a token for this service account. It acts with the roles of the account.
      </PersonalTokens>
    </Dialog>
  )
}
