import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { accountName, api, apiQuery, send, useMe } from '../../api'
import { useSignInMethods } from '../../api/me'
import { permissionWords } from '../../api/permissions'
import { Page } from '../../shell'
import { Button, Facts, Icons, Loaded, Notice, Section, useConfirm } from '../../ui'
import { PersonalTokens } from './personaltokens'

/** The signed-in person: who it is, its personal tokens and its sessions. */
export default function ProfilePage() {
  const me = useMe()
  const methods = useSignInMethods()
  const person = me.user?.id !== undefined && me.user.id > 0
  return (
    <Page title="Profile" description="Your account, your personal tokens and your sessions.">
      {methods.data?.open && <Notice>This server needs no sign-in (AUTH_TYPE=none), so everyone acts as administrator, without an account.</Notice>}
      <Section
        title="Account"
        actions={
          person &&
          me.isAdmin && (
            <Link to="/users" search={{ edit: String(me.user?.id) }}>
              Edit
            </Link>
          )
        }
      >
        <Loaded query={me.query}>
          {({ user, permissions }) => (
            <Facts
              items={[
                ['Name', accountName(user)],
                ['Email address', user.email || '–'],
                ['User name', user.username || '–'],
                ['Permissions', permissions.some((held) => held.permission === 'ADMIN') ? 'Administrator: everything' : <HeldPermissions />],
              ]}
            />
          )}
        </Loaded>
      </Section>
      {person && <OwnTokens />}
      {person && <Sessions />}
    </Page>
  )
}

// The permissions of the caller, in words, by where each is held.
function HeldPermissions() {
  const held = useMe().query.data?.permissions ?? []
  if (held.length === 0) return <>Reading. Ask an administrator for a role to do more.</>
  const places = new Map<string, string[]>()
  for (const { permission, project, environment } of held) {
    const place =
      !project || project === '*' ? 'the whole service' : environment && environment !== '*' ? `${environment} of project ${project}` : `project ${project}`
    places.set(place, [...(places.get(place) ?? []), permissionWords[permission] ?? permission])
  }
  const most = 20
  return (
    <ul className="plain-list">
      {[...places].slice(0, most).map(([place, permissions]) => (
        <li key={place}>
          <details>
            <summary>
              {permissions.length} in {place}
            </summary>
            {permissions.join(' · ')}
          </details>
        </li>
      ))}
      {places.size > most && <li>and in {places.size - most} more places</li>}
    </ul>
  )
}

function OwnTokens() {
  const tokens = useQuery(apiQuery('/api/admin/user/tokens'))
  return (
    <Section title="Personal tokens" description="For scripts and tools that act as you, with your permissions.">
      <Loaded query={tokens}>
        {({ pats }) => (
          <PersonalTokens
            label="Your personal tokens"
            tokens={pats}
            invalidates={['/api/admin/user/tokens']}
            create={(body) => api.post('/api/admin/user/tokens', { body })}
            remove={(tokenId) => api.delete('/api/admin/user/tokens/{tokenId}', { path: { tokenId } })}
          >
            Create one for a script or for Terraform. For an application that reads flags, create an API token instead.
          </PersonalTokens>
        )}
      </Loaded>
    </Section>
  )
}

function Sessions() {
  const [ask, question] = useConfirm(() => ({
    title: 'Sign out everywhere?',
    description: 'All your sessions end at once, including this one. Your personal tokens stay valid.',
    action: 'Sign out everywhere',
    danger: false,
    onConfirm: async () => {
      await send('post', '/auth/sign-out-everywhere')
      window.location.assign('/sign-in')
    },
  }))
  return (
    <Section title="Sessions" description="Each browser in which you sign in has a session of its own.">
      <div className="row">
        <Button icon={<Icons.Out />} onClick={() => ask(true)}>
          Sign out everywhere
        </Button>
      </div>
      {question}
    </Section>
  )
}
