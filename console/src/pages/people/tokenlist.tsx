import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { useState } from 'react'
import { apiQuery, useChange, useMe, type ApiRequest, type Schema } from '../../api'
import { useUrlState } from '../../shell'
import { Badge, DateTime, Icons, lastTime, toast, useConfirm, usesNoted } from '../../ui'
import { EnvironmentName } from '../../ui/environmentname'
import { Create, List, deleteEntry } from '../settings/list'
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
  const [view, setView] = useUrlState({ create: false })
  const [created, setCreated] = useState<Token>()
  const deletion = useChange({
    change: (token: Token) => remove(token.secret),
    invalidates,
    success: (_, token) => `Token ${token.tokenName} deleted`,
    showsErrors: true,
  })
  const [askRemove, question] = useConfirm((token: Token) => ({
    title: `Delete token ${token.tokenName}?`,
    description: `${token.seenAt ? `It was last used ${lastTime(new Date(token.seenAt), usesNoted)}.` : 'It has never been used.'} Applications that use it get no flags from their next request on. This cannot be undone.`,
    action: 'Delete token',
    typeToConfirm: token.tokenName,
    onConfirm: () => deletion.mutateAsync(token),
  }))
  const all = query.data?.tokens
  const projects = useQuery({ ...apiQuery('/api/admin/projects'), enabled: !project })
  const names = new Map(projects.data?.projects.map(({ id, name }) => [id, name]))
  const environments = [...new Set(all?.map((token) => token.environment ?? ''))].filter((name) => name !== '' && name !== '*').sort()
  const close = () => setView({ create: false })
  return (
    <>
      <List
        noun="API token"
        query={query}
        rows={all}
        rowKey={(token) => token.secret}
        texts={(token) => [token.tokenName, token.environment, ...token.projects]}
        filters={[
          { name: 'type', label: 'Type', choices: types },
          { name: 'environment', label: 'Environment', choices: environments.map((name) => ({ value: name, label: name })) },
        ]}
        value={(token, name) => (name === 'type' ? rightsOf(token.type) : token.environment)}
        nameOf={(token) => token.tokenName}
        columns={[
          { id: 'name', header: 'Name', cell: (token) => <span className="strong break">{token.tokenName}</span> },
          { id: 'type', header: 'Type', cell: (token) => typeLabel(token.type) },
          { id: 'environment', header: 'Environment', cell: (token) => (token.environment === '*' ? 'All' : <EnvironmentName name={token.environment} />) },
          { id: 'projects', header: 'Projects', cell: (token) => <span className="break">{placeOf(token, names)}</span> },
          {
            id: 'expires',
            header: 'Expires',
            cell: (token) => (hasExpired(token.expiresAt) ? <Badge kind="danger">Expired</Badge> : <DateTime value={token.expiresAt} absolute />),
          },
          { id: 'seen', header: 'Last used', cell: (token) => <DateTime value={token.seenAt} noted={usesNoted} /> },
        ]}
        actions={(token) => [
          { label: 'Copy secret', icon: <Icons.Copy />, onSelect: () => void copySecret(token) },
          'separator',
          deleteEntry(() => askRemove(token), canChangeToken(me, 'DELETE', token, project).reason),
        ]}
        icon={<Icons.Key />}
        empty="An application needs one to read its flags. Tokens for servers stay secret; tokens for browsers may be public."
        create={project && <CreateToken project={project} />}
      >
        {project && <CreateToken project={project} />}
      </List>
      {view.create && (
        <TokenDialog project={project} create={create} invalidates={invalidates} onClose={close} onCreated={(token) => (close(), setCreated(token))} />
      )}
      {created && (
        <SecretDialog title={`Token ${created.tokenName}`} label="Secret of the token" secret={created.secret} onClose={() => setCreated(undefined)}>
          Give it to the SDK of your application. You can copy it from this list later.
        </SecretDialog>
      )}
      {question}
    </>
  )
}

/** Opens the form of a new token, which the list shows. */
export function CreateToken({ project }: { project?: string }) {
  const me = useMe()
  const [, setView] = useUrlState({ create: false })
  return (
    <Create reason={canCreateToken(me, project).reason} onClick={() => setView({ create: true }, { push: true })}>
      Create token
    </Create>
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
