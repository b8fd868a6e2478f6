import { Link } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { apiQuery } from '../../api'
import { Page, useUrlState } from '../../shell'
import { CodeBlock, Loaded, Section, Select, TextField, environmentChoice } from '../../ui'
import { highlight } from '../../ui/highlight'
import { ClientChoice } from './clientchoice'
import './connect.css'
import { FlagField, suggestedFlags } from './flagfield'
import { ConnectionLight } from './light'
import { clients, programOf, runCommand } from './snippets'
import { useSettled } from './settled'
import { TokenStep, type CreatedToken } from './token'

/** Connects an application: choose where and with what, create a token, paste the program, see the application. */
export default function ConnectPage() {
  const projects = useQuery(apiQuery('/api/admin/projects'))
  return (
    <Page title="Connect an application" description="Read a flag from your own program, and see here when it is connected.">
      <Loaded query={projects}>{(data) => <Connect projects={data.projects} />}</Loaded>
    </Page>
  )
}

function Connect({ projects }: { projects: { id: string; name: string }[] }) {
  const [view, setView] = useUrlState({ project: projects[0]?.id ?? 'default', environment: '', flag: '', sdk: 'node', app: 'my-app' })
  const environments = useQuery(apiQuery('/api/admin/environments/project/{projectId}', { path: { projectId: view.project } }))
  const usable = (environments.data?.environments ?? []).filter((one) => one.visible)
  const environment = usable.find((one) => one.name === view.environment)?.name ?? usable[0]?.name ?? ''
  const client = clients.find((one) => one.id === view.sdk) ?? clients[0]!
  const [token, setToken] = useState<CreatedToken>()
  // A token is for one project, environment and kind of client.
  const current = token && token.project === view.project && token.environment === environment && token.kind === client.kind ? token : undefined
  const appName = view.app.trim() || 'my-app'
  const secret = current?.secret ?? `the-${client.kind}-token`
  const code = programOf(client, { url: window.location.origin, flag: view.flag.trim() || 'my-flag', app: appName, token: secret })
  return (
    <div className="connect">
      <div className="stack">
        <Section title="What to connect">
          <div className="columns">
            <Select
              label="Project"
              value={view.project}
              choices={projects.map(({ id, name }) => ({ value: id, label: name }))}
              onChange={(project) => setView({ project, environment: '', flag: '' })}
            />
            <Select
              label="Environment"
              value={environment}
              choices={usable.map(environmentChoice)}
              onChange={(value) => setView({ environment: value })}
              disabledReason={environments.data && usable.length === 0 ? 'The project has no environment.' : undefined}
            />
            <div>
              <FlagField project={view.project} value={view.flag} onChange={(flag) => setView({ flag })} />
              <NoFlag project={view.project} environment={environment} flag={view.flag.trim()} />
            </div>
            <TextField label="Application" hint="Its name in the list of applications." value={view.app} maxLength={100} onChange={(app) => setView({ app })} />
          </div>
        </Section>
        <ClientChoice value={client.id} onChange={(sdk) => setView({ sdk })} />
      </div>
      <ol className="stack steps">
        <li>
          <Section title="1. Create a token">
            <TokenStep project={view.project} environment={environment} kind={client.kind} appName={appName} token={current} onCreated={setToken} />
          </Section>
        </li>
        <li>
          <Section title="2. Install the client">
            <CodeBlock label="Command that installs the client" code={client.install} wrap />
            {client.tried !== 'tests' && (
              <p className="soft small">
                {client.tried === 'once'
                  ? 'Guidon’s tests do not run this client. The program was tried with this version.'
                  : 'Guidon’s tests do not run this client. The program follows the client’s documentation, and installs its newest version.'}
              </p>
            )}
          </Section>
        </li>
        <li className="steps-program">
          <Section title={client.run ? `3. Save the program as ${client.file}, and run it` : '3. Add this to your page'}>
            <CodeBlock label={`Program for ${client.label}`} code={code}>
              {highlight(code)}
            </CodeBlock>
            {client.run && <CodeBlock label="Command that runs the program" code={runCommand(client, secret)} wrap />}
            {!current && (
              <p className="soft small">
                Replace <code>{secret}</code> with your token, or create one above.
              </p>
            )}
          </Section>
        </li>
        <li>
          <Section title="4. See it connected">
            <ConnectionLight
              key={`${appName} ${environment} ${current?.name ?? ''}`}
              client={client}
              project={view.project}
              environment={environment}
              appName={appName}
              flag={view.flag.trim()}
              token={current}
            />
          </Section>
        </li>
      </ol>
    </div>
  )
}

// Says that the program prints false: the token of a project reads no flags of others, and the flag can be off.
function NoFlag({ project, environment, flag: typed }: { project: string; environment: string; flag: string }) {
  const flag = useSettled(typed)
  const { data } = useQuery({ ...suggestedFlags(project, flag), enabled: flag !== '' })
  const found = data?.features.find((one) => one.name === flag)
  if (found?.environments.some(({ name, enabled }) => name === environment && !enabled))
    return (
      <p className="field-hint" role="status">
        {flag} is off in {environment}, so the program prints false.{' '}
        <Link to="/projects/$projectId/flags/$flag" params={{ projectId: project, flag }}>
          Switch it on
        </Link>
      </p>
    )
  if (flag === '' || found || !data || data.total !== data.features.length) return null
  return (
    <p className="field-hint" role="status">
      Project {project} has no flag {flag}, so the program prints false.
    </p>
  )
}
