import type { UseQueryResult } from '@tanstack/react-query'
import { useState } from 'react'
import { useChange, useMe, type ApiRequest, type Schema } from '../../api'
import { useUrlState } from '../../shell'
import {
  ActionMenu,
  Badge,
  Button,
  ConfirmDialog,
  DateTime,
  EmptyState,
  ErrorState,
  Icons,
  Pagination,
  Table,
  lastTime,
  toast,
  usesNoted,
  type Column,
} from '../../ui'
import { EnvironmentName } from '../../ui/environmentname'
import { FilterBar, type Filter } from '../../ui/filters'
import { pageOf, pageSize, search } from '../settings/paged'
import { hasExpired } from './expiry'
import { SecretDialog } from './secretdialog'
import { TokenDialog } from './tokendialog'
import { canChangeToken, canCreateToken, placeOf, rightsOf } from './tokenrights'

type Token = Schema<'ApiToken'>

interface TokenListProps {
  /** The project whose tokens they are; absent for all projects. */
  project?: string
  query: UseQueryResult<Schema<'TokenList'>>
  invalidates: string[]
  create: (body: Schema<'CreateTokenRequest'>) => ApiRequest<Token>
  remove: (secret: string) => Promise<unknown>
}

const types = [
  { value: 'client', label: 'Server' },
  { value: 'frontend', label: 'Browser' },
  { value: 'admin', label: 'Admin' },
]

const typeLabel = (type: string) => types.find(({ value }) => value === rightsOf(type))?.label ?? type

/** API tokens: search, create one and see its secret, copy a secret, delete one. */
export function TokenList({ project, query, invalidates, create, remove }: TokenListProps) {
  const me = useMe()
  const [view, setView] = useUrlState({ q: '', type: '', environment: '', offset: 0, create: false })
  const [created, setCreated] = useState<Token>()
  const [removed, setRemoved] = useState<Token>()
  const deletion = useChange({ change: (token: Token) => remove(token.secret), invalidates, showsErrors: true })
  const all = query.data?.tokens ?? []
  const found = search(
    all.filter((token) => (view.type === '' || rightsOf(token.type) === view.type) && (view.environment === '' || token.environment === view.environment)),
    view.q,
    (token) => [token.tokenName, token.environment, ...token.projects],
  )
  const shown = pageOf(found, view.offset)
  const environments = [...new Set(all.map((token) => token.environment ?? ''))].filter((name) => name !== '' && name !== '*').sort()
  const filters: Filter<'type' | 'environment'>[] = [
    { name: 'type', label: 'Type', choices: types },
    { name: 'environment', label: 'Environment', choices: environments.map((name) => ({ value: name, label: name })) },
  ]
  const columns: Column<Token>[] = [
    { id: 'name', header: 'Name', cell: (token) => <span className="strong break">{token.tokenName}</span> },
    {
      id: 'type',
      header: 'Type',
      cell: (token) => typeLabel(token.type),
    },
    { id: 'environment', header: 'Environment', cell: (token) => (token.environment === '*' ? 'All' : <EnvironmentName name={token.environment} />) },
    { id: 'projects', header: 'Projects', cell: (token) => <span className="break">{placeOf(token)}</span> },
    {
      id: 'expires',
      header: 'Expires',
      cell: (token) =>
        !token.expiresAt ? (
          <span className="soft">Never</span>
        ) : hasExpired(token.expiresAt) ? (
          <Badge kind="danger">Expired</Badge>
        ) : (
          <DateTime value={token.expiresAt} absolute />
        ),
    },
    { id: 'seen', header: 'Last used', cell: (token) => <DateTime value={token.seenAt} noted={usesNoted} /> },
    {
      id: 'actions',
      header: 'Actions',
      hideHeader: true,
      align: 'right',
      width: '48px',
      cell: (token) => (
        <ActionMenu
          label={`Actions for ${token.tokenName}`}
          entries={[
            { label: 'Copy secret', icon: <Icons.Copy />, onSelect: () => void copySecret(token) },
            'separator',
            {
              label: 'Delete',
              icon: <Icons.Trash />,
              danger: true,
              onSelect: () => setRemoved(token),
              disabledReason: canChangeToken(me, 'DELETE', token, project).reason,
            },
          ]}
        />
      ),
    },
  ]
  const button = <CreateToken project={project} />
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />
  return (
    <div className="stack">
      {all.length > 0 && (
        <FilterBar
          noun="token"
          search="Search tokens"
          filters={filters}
          values={view}
          onChange={(change) => setView({ ...change, offset: 0 })}
          shown={found.length}
          total={all.length}
        >
          {project && button}
        </FilterBar>
      )}
      <Table
        label="API tokens"
        cards
        columns={columns}
        rows={shown.rows}
        rowKey={(token) => token.secret}
        loading={query.isPending}
        empty={
          all.length > 0 ? (
            <EmptyState
              icon={<Icons.Key />}
              title="No token matches"
              action={<Button onClick={() => setView({ q: '', type: '', environment: '' })}>Show all tokens</Button>}
            />
          ) : (
            <EmptyState icon={<Icons.Key />} title="No API tokens yet" action={button}>
              An application needs one to read its flags. Tokens for servers stay secret; tokens for browsers may be public.
            </EmptyState>
          )
        }
      />
      {found.length > pageSize && (
        <Pagination offset={shown.offset} limit={pageSize} total={found.length} noun="tokens" onChange={(offset) => setView({ offset })} />
      )}
      {view.create && (
        <TokenDialog
          project={project}
          create={create}
          invalidates={invalidates}
          onClose={() => setView({ create: false })}
          onCreated={(token) => {
            setView({ create: false })
            setCreated(token)
          }}
        />
      )}
      {created && (
        <SecretDialog title={`Token ${created.tokenName}`} label="Secret of the token" secret={created.secret} onClose={() => setCreated(undefined)}>
          Give it to the SDK of your application. You can copy it from this list later.
        </SecretDialog>
      )}
      {removed && (
        <ConfirmDialog
          open
          onClose={() => setRemoved(undefined)}
          title={`Delete token ${removed.tokenName}?`}
          description={`${removed.seenAt ? `It was last used ${lastTime(new Date(removed.seenAt), usesNoted)}.` : 'It has never been used.'} Applications that use it get no flags from their next request on. This cannot be undone.`}
          action="Delete token"
          typeToConfirm={removed.tokenName}
          onConfirm={async () => {
            await deletion.mutateAsync(removed)
            toast.success(`Token ${removed.tokenName} deleted`)
          }}
        />
      )}
    </div>
  )
}

/** Opens the form of a new token, which the list shows. */
export function CreateToken({ project }: { project?: string }) {
  const me = useMe()
  const [, setView] = useUrlState({ create: false })
  return (
    <Button
      variant="primary"
      icon={<Icons.Plus />}
      disabledReason={canCreateToken(me, project).reason}
      onClick={() => setView({ create: true }, { push: true })}
    >
      Create token
    </Button>
  )
}

async function copySecret(token: Token) {
  try {
    await navigator.clipboard.writeText(token.secret)
    toast.success(`Secret of ${token.tokenName} copied`)
  } catch {
    toast.error('The browser does not allow copying here.')
  }
}
