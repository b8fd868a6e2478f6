import { useQueries } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api, apiQuery, useChange, useMe, type Schema } from '../../api'
import { FormDialog, useChangeForm } from '../../forms'
import { useUrlState } from '../../shell'
import { Badge, Button, CodeBlock, DateTime, Dialog, Icons, Notice, Select, TextField, useConfirm, type Choice } from '../../ui'
import { EnvironmentName, useEnvironmentChoices } from '../../ui/environmentname'
import { useProject } from '../flag/data'
import { Create, List, deleteEntry } from './list'

const path = '/api/admin/projects/{projectId}/environments/{environment}/signals'

type Signal = Schema<'Signal'> & { environment: string }
type Secret = Schema<'NewSignal'> & { environment: string }

/** The named signals of a project, which its monitoring posts: a safeguard of a release plan acts when one fires. */
export default function SignalsTab() {
  const { projectId } = useParams({ from: '/projects/$projectId' })
  const me = useMe()
  const [view, setView] = useUrlState({ signal: false })
  const [secret, setSecret] = useState<Secret>()
  const project = useProject(projectId)
  const environments = project?.environments ?? []
  const readable = environments.filter(({ environment }) => me.can('READ_PROJECT_API_TOKEN', projectId, environment).allowed)
  const queries = useQueries({ queries: readable.map(({ environment }) => apiQuery(path, { path: { projectId, environment } })) })
  const rows: Signal[] = queries.flatMap(({ data = [] }, index) => data.map((one) => ({ ...one, environment: readable[index]!.environment })))
  const failed = queries.find(({ error }) => error)
  const query = {
    error: failed?.error,
    isPending: !project || queries.some(({ isPending }) => isPending),
    refetch: () => queries.forEach(({ refetch }) => void refetch()),
  }
  const at = ({ environment, name }: Signal) => ({ projectId, environment, signalName: name })
  const rotate = useChange({
    change: (signal: Signal) => api.post(`${path}/{signalName}/rotate`, { path: at(signal) }),
    invalidates: [path],
    showsErrors: true,
    onSuccess: (made, { environment }) => setSecret({ ...made, environment }),
  })
  const remove = useChange({
    change: (signal: Signal) => api.delete(`${path}/{signalName}`, { path: at(signal) }),
    invalidates: [path],
    success: (_, { name }) => `Signal ${name} deleted`,
    showsErrors: true,
  })
  const [askRotate, rotating] = useConfirm((signal: Signal) => ({
    title: `Replace the secret of ${signal.name}?`,
    description: `The present secret ends at once: until you have set the new one, what your monitoring posts for ${signal.environment} is refused.`,
    action: 'Replace secret',
    onConfirm: () => rotate.mutateAsync(signal),
  }))
  const [askRemove, removing] = useConfirm((signal: Signal) => ({
    title: `Delete signal ${signal.name} of ${signal.environment}?`,
    description: 'What your monitoring posts for it is refused then. This cannot be undone.',
    action: 'Delete signal',
    onConfirm: () => remove.mutateAsync(signal),
  }))
  const creatable = environments.filter(({ environment }) => me.can('CREATE_PROJECT_API_TOKEN', projectId, environment).allowed)
  const [, ...choices] = useEnvironmentChoices(creatable.map(({ environment }) => environment))
  const reason = creatable.length > 0 ? undefined : me.can('CREATE_PROJECT_API_TOKEN', projectId).reason
  const create = (
    <Create reason={reason} onClick={() => setView({ signal: true }, { push: true })}>
      Create signal
    </Create>
  )
  return (
    <>
      <div className="row-apart">
        <p className="soft grow">Your monitoring posts a signal when something goes wrong, and safeguards of release plans act on it.</p>
        {create}
      </div>
      <List
        noun="signal"
        query={query}
        rows={rows}
        rowKey={({ environment, name }) => `${environment}/${name}`}
        nameOf={({ name }) => name}
        texts={({ name }) => [name]}
        columns={[
          { id: 'name', header: 'Name', cell: ({ name }) => <span className="strong break">{name}</span> },
          { id: 'environment', header: 'Environment', cell: ({ environment }) => <EnvironmentName name={environment} /> },
          {
            id: 'status',
            header: 'Status',
            cell: ({ status }) =>
              status === 'firing' ? (
                <Badge kind="danger">Firing</Badge>
              ) : status ? (
                <Badge kind="ok">Resolved</Badge>
              ) : (
                <span className="soft">Not posted yet</span>
              ),
          },
          { id: 'received', header: 'Last change', cell: ({ receivedAt }) => <DateTime value={receivedAt} /> },
        ]}
        actions={(signal) => [
          {
            label: 'Replace secret',
            icon: <Icons.Refresh />,
            disabledReason: me.can('CREATE_PROJECT_API_TOKEN', projectId, signal.environment).reason,
            onSelect: () => askRotate(signal),
          },
          deleteEntry(() => askRemove(signal), me.can('DELETE_PROJECT_API_TOKEN', projectId, signal.environment).reason),
        ]}
        icon={<Icons.Hook />}
        create={create}
        empty="Create one for an alert of Alertmanager, Grafana or Datadog, such as checkout-errors."
      />
      {view.signal && !reason && creatable.length > 0 && <NewSignal projectId={projectId} environments={choices} onClose={() => setView({ signal: false })} />}
      {rotating}
      {removing}
      {secret && <SecretOfSignal secret={secret} onClose={() => setSecret(undefined)} />}
    </>
  )
}

interface NewProps {
  projectId: string
  environments: readonly Choice[]
  /** The name is that of the signal that was created. */
  onClose: (name?: string) => void
}

/** Creates a signal, and shows its secret. */
export function NewSignal({ projectId, environments, onClose }: NewProps) {
  const [secret, setSecret] = useState<Secret>()
  const form = useChangeForm({
    initial: { name: '', environment: (environments.find(({ production }) => production) ?? environments[0]!).value },
    nameField: 'name',
    change: ({ name, environment }) => api.post(path, { path: { projectId, environment }, body: { name: name.trim() } }),
    invalidates: [path],
    onSuccess: (made, { environment }) => setSecret({ ...made, environment }),
  })
  if (secret) return <SecretOfSignal secret={secret} onClose={() => onClose(secret.name)} />
  return (
    <FormDialog form={form} title="Create signal" submit="Create signal" onClose={() => onClose()}>
      <TextField label="Name" required maxLength={60} placeholder="checkout-errors" hint="Small letters, digits and hyphens." {...form.field('name')} />
      {environments.length > 1 && <Select label="Environment" choices={environments} {...form.field('environment')} />}
    </FormDialog>
  )
}

/** How a monitoring system posts a signal. */
const snippets = (url: string, secret: string) => ({
  curl: `curl -X POST ${url} \\
  -H 'Authorization: Bearer ${secret}' \\
  -H 'Content-Type: application/json' \\
  -d '{"status": "firing"}'`,
  Alertmanager: `receivers:
  - name: guidon
    webhook_configs:
      - url: ${url}
        max_alerts: 1
        http_config:
          authorization:
            credentials: ${secret}`,
  Grafana: `# Contact point of the type Webhook
URL: ${url}
Authorization Header - Scheme: Bearer
Authorization Header - Credentials: ${secret}
Max Alerts: 1`,
  Datadog: `# Two webhooks, guidon-firing and guidon-resolved
URL: ${url}
Custom headers: {"Authorization": "Bearer ${secret}"}
Payload: {"status": "firing"}, and {"status": "resolved"}
# In the message of the monitor
{{#is_alert}} @webhook-guidon-firing {{/is_alert}} {{#is_recovery}} @webhook-guidon-resolved {{/is_recovery}}`,
})

function SecretOfSignal({ secret: { name, secret, environment }, onClose }: { secret: Secret; onClose: () => void }) {
  const code = snippets(`${window.location.origin}/api/signals/${name}`, secret)
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={`Signal ${name} of ${environment}`}
      actions={
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <div className="stack">
        <Notice kind="warn">Copy the secret now. It is not shown again.</Notice>
        <CodeBlock code={secret} label="Secret of the signal" wrap />
        {Object.entries(code).map(([title, text]) => (
          <div key={title} className="stack-s">
            <h3>{title}</h3>
            <CodeBlock code={text} label={`Snippet for ${title}`} />
          </div>
        ))}
        <p className="soft">
          The status is <code>firing</code>, <code>alerting</code> or <code>triggered</code>, and <code>resolved</code> or <code>ok</code> when it is over.
        </p>
      </div>
    </Dialog>
  )
}
