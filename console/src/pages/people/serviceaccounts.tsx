import { useQuery } from '@tanstack/react-query'
import { accountName, api, apiQuery, useChange, useMe, type Schema } from '../../api'
import { FormDialog, useChangeForm } from '../../forms'
import { Page, useUrlState } from '../../shell'
import { Button, DateTime, Dialog, Icons, TextField, plural, useConfirm } from '../../ui'
import { Create, List, deleteEntry, editEntry, useEdited } from '../settings/list'
import { RootRoleField, useRootRoles } from './account'
import { PersonalTokens } from './personaltokens'

type ServiceAccount = Schema<'ServiceAccount'>

const path = '/api/admin/service-account'

/** Accounts of scripts and pipelines, with their tokens. */
export default function ServiceAccountsPage() {
  const me = useMe()
  const roles = useRootRoles()
  const accounts = useQuery(apiQuery(path))
  const rows = accounts.data?.serviceAccounts
  const reason = me.can('ADMIN').reason
  const [view, setView] = useUrlState({ tokens: 0 })
  const opened = rows?.find((account) => account.id === view.tokens)
  const edited = useEdited(
    rows,
    (account) => account.id,
    (close, account) => <AccountDialog account={account} onClose={close} onCreated={(id) => (close(), setView({ tokens: id }))} />,
  )
  const deletion = useChange({
    change: (account: ServiceAccount) => api.delete('/api/admin/service-account/{userId}', { path: { userId: account.id } }),
    invalidates: [path, '/api/admin/projects'],
    success: (_, account) => `Service account ${accountName(account)} deleted`,
    showsErrors: true,
  })
  const [remove, question] = useConfirm((account: ServiceAccount) => ({
    title: `Delete service account ${accountName(account)}?`,
    description: `Its ${plural(account.tokens.length, 'token')} and its roles end at once. This cannot be undone.`,
    action: 'Delete service account',
    typeToConfirm: account.username || accountName(account),
    onConfirm: () => deletion.mutateAsync(account),
  }))
  const showTokens = (account: ServiceAccount) => setView({ tokens: account.id }, { push: true })
  const create = (
    <Create reason={reason} onClick={edited.create}>
      Create service account
    </Create>
  )
  return (
    <Page title="Service accounts" description="Accounts of scripts and pipelines. They have tokens and roles, and cannot sign in." actions={create}>
      <List
        noun="service account"
        query={accounts}
        rows={rows}
        rowKey={(account) => account.id}
        texts={(account) => [account.name, account.username, roles.nameOf(account.rootRole)]}
        nameOf={accountName}
        columns={[
          {
            id: 'name',
            header: 'Name',
            cell: (account) => (
              <span>
                <span className="strong break">{accountName(account)}</span> <span className="soft break">{account.username}</span>
              </span>
            ),
          },
          { id: 'role', header: 'Role', cell: (account) => roles.nameOf(account.rootRole) },
          {
            id: 'tokens',
            header: 'Tokens',
            cell: (account) => (
              <Button variant="quiet" size="small" onClick={() => showTokens(account)} aria-label={`Tokens of ${accountName(account)}`}>
                {account.tokens.length === 0 ? 'Create token' : plural(account.tokens.length, 'token')}
              </Button>
            ),
          },
          { id: 'created', header: 'Created', cell: (account) => <DateTime value={account.createdAt} /> },
        ]}
        actions={(account) => [
          { label: 'Tokens', icon: <Icons.Key />, onSelect: () => showTokens(account) },
          editEntry(() => edited.edit(account), reason),
          'separator',
          deleteEntry(() => remove(account), reason),
        ]}
        icon={<Icons.Robot />}
        empty="Create one for Terraform or a pipeline that changes flags. An application that only reads flags needs an API token instead."
      />
      {edited.dialog}
      {question}
      {opened && (
        <Dialog open onClose={() => setView({ tokens: 0 })} wide title={`Tokens of ${accountName(opened)}`}>
          <PersonalTokens
            label={`Tokens of ${accountName(opened)}`}
            tokens={opened.tokens}
            invalidates={[path]}
            disabledReason={reason}
            create={(body) => api.post('/api/admin/service-account/{userId}/token', { path: { userId: opened.id }, body })}
            remove={(tokenId) => api.delete('/api/admin/service-account/{userId}/token/{tokenId}', { path: { userId: opened.id, tokenId } })}
          >
            Create a token for this service account. It acts with the roles of the account.
          </PersonalTokens>
        </Dialog>
      )}
    </Page>
  )
}

function AccountDialog({ account, onClose, onCreated }: { account?: ServiceAccount; onClose: () => void; onCreated: (id: number) => void }) {
  const form = useChangeForm({
    initial: { name: account?.name ?? '', username: account?.username ?? '', rootRole: String(account?.rootRole ?? 3) },
    change: async ({ name, username, rootRole }) => {
      const body = { name: name.trim(), username: username.trim(), rootRole: Number(rootRole) }
      if (!account) return (await api.post(path, { body })).id
      await api.put('/api/admin/service-account/{userId}', { path: { userId: account.id }, body })
    },
    invalidates: [path, '/api/admin/projects'],
    success: account ? 'Service account saved' : undefined,
    onSuccess: (id) => (id === undefined ? onClose() : onCreated(id)),
  })
  const title = account ? `Service account ${accountName(account)}` : 'Create service account'
  return (
    <FormDialog form={form} title={title} submit={account ? 'Save' : 'Create service account'} onClose={onClose}>
      <TextField label="Name" required maxLength={100} placeholder="Terraform" {...form.field('name')} />
      <TextField label="User name" required maxLength={100} placeholder="terraform" hint="The audit log shows this name." {...form.field('username')} />
      <RootRoleField {...form.field('rootRole')} />
    </FormDialog>
  )
}
