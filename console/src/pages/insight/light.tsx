import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api, apiQuery, errorText } from '../../api'
import { DateTime, LinkButton, plural, reportsNoted } from '../../ui'
import type { Client } from './snippets'
import type { CreatedToken } from './token'

interface LightProps {
  client: Client
  project: string
  environment: string
  appName: string
  flag: string
  token?: CreatedToken
}

const every = 3000

/** A light that turns green when the server has seen the application. Clients that do not report are seen by their token. */
export function ConnectionLight(props: LightProps) {
  return props.client.reports ? <InstanceLight {...props} /> : <TokenLight {...props} />
}

// Instances of the application in the environment. The list of applications returns 200 even before the first report.
function InstanceLight({ project, environment, appName, flag }: LightProps) {
  const found = useQuery({
    queryKey: ['connect', appName, environment],
    queryFn: async ({ signal }) => {
      const { applications } = await api.get('/api/admin/metrics/applications', { query: { query: appName, limit: '100' }, signal })
      if (!applications.some((one) => one.appName === appName)) return []
      const { instances } = await api.get('/api/admin/metrics/instances/{appName}/environment/{environmentName}', {
        path: { appName, environmentName: environment },
        signal,
      })
      return instances
    },
    enabled: environment !== '',
    refetchInterval: every,
    retry: false,
  })
  const latest = found.data?.[0]
  if (!latest) {
    return (
      <Light text={`Waiting for ${appName} in ${environment}`} error={found.error}>
        A program that has started appears here within two minutes.
      </Light>
    )
  }
  return (
    <>
      <Light on text={`${appName} is connected`}>
        {plural(found.data!.length, 'instance')} in {environment}
        {latest.sdkVersion && `, ${latest.sdkVersion}`}. Last report: <DateTime value={latest.lastSeen} noted={reportsNoted} />
      </Light>
      <div className="row">
        {flag && (
          <LinkButton to="/projects/$projectId/flags/$flag/usage" params={{ projectId: project, flag }}>
            Usage of {flag}
          </LinkButton>
        )}
        <LinkButton to="/applications/$app" params={{ app: appName }}>
          Open the application
        </LinkButton>
      </div>
    </>
  )
}

function TokenLight({ client, token }: LightProps) {
  const name = token?.name ?? ''
  const found = useQuery({
    ...apiQuery('/api/admin/api-tokens/{token}', { path: { token: name || '-' } }),
    enabled: name !== '',
    refetchInterval: every,
    retry: false,
  })
  if (!token)
    return <Light text="Waiting for a token">{client.label} does not report who it is. Create a token: this light shows when the token is used.</Light>
  if (!found.data?.tokens.find((one) => one.tokenName === name)?.seenAt) {
    return (
      <Light text={`Waiting for the first use of ${name}`} error={found.error}>
        {client.label} does not report usage, so it does not appear in the list of applications.
      </Light>
    )
  }
  return (
    <Light on text="The token is in use">
      {client.label} has read flags with {name}.
    </Light>
  )
}

function Light({ on, text, error, children }: { on?: boolean; text: string; error?: unknown; children: ReactNode }) {
  return (
    <div className="light-row" role="status">
      <span className={on ? 'light light-on' : 'light'} aria-hidden="true" />
      <div className="grow">
        <p className="strong break">{text}</p>
        <p className="soft break">{error ? errorText(error) : children}</p>
      </div>
    </div>
  )
}
