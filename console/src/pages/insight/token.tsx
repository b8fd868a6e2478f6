import { api, useChange, useMe, type Schema } from '../../api'
import { Button, CodeBlock, Icons } from '../../ui'
import { ProjectName } from '../../ui/projectname'
import type { Client } from './snippets'

/** A token that this page created. Its secret is only kept while the page is open. */
export interface CreatedToken {
  name: string
  secret: string
  project: string
  environment: string
  kind: Client['kind']
}

interface TokenStepProps {
  project: string
  environment: string
  kind: Client['kind']
  appName: string
  token?: CreatedToken
  onCreated: (token: CreatedToken) => void
}

const types = { server: 'client', browser: 'frontend' } as const

/** Creates a token for one application, and shows its secret. */
export function TokenStep({ project, environment, kind, appName, token, onCreated }: TokenStepProps) {
  const { can } = useMe()
  const type = types[kind]
  const inProject = can('CREATE_PROJECT_API_TOKEN', project, environment)
  const everywhere = can(type === 'client' ? 'CREATE_CLIENT_API_TOKEN' : 'CREATE_FRONTEND_API_TOKEN')
  const create = useChange({
    change: (): Promise<Schema<'ApiToken'>> => {
      const tokenName = `${appName.slice(0, 100)}-${environment}-${Math.random().toString(36).slice(2, 8)}`
      if (inProject.allowed)
        return api.post('/api/admin/projects/{projectId}/api-tokens', { path: { projectId: project }, body: { tokenName, type, environment } })
      return api.post('/api/admin/api-tokens', { body: { tokenName, type, environment, projects: [project] } })
    },
    invalidates: ['/api/admin/api-tokens', '/api/admin/projects/{projectId}/api-tokens'],
    onSuccess: (created) => onCreated({ name: created.tokenName, secret: created.secret, project, environment, kind }),
  })
  if (token) {
    return (
      <>
        <p>
          Token <span className="strong break">{token.name}</span> for <ProjectName id={project} /> in {environment}
        </p>
        <CodeBlock label="Token" code={token.secret} wrap />
        <p className="soft small">Keep it in a safe place. You can find it again in the list of API tokens.</p>
      </>
    )
  }
  const reason = !environment ? 'Choose an environment first.' : inProject.allowed || everywhere.allowed ? undefined : inProject.reason
  return (
    <div className="row-apart">
      <p className="soft grow">
        {type === 'client' ? 'It reads all flags of the project in this environment.' : 'It reads only results, so a page can contain it.'}
      </p>
      <Button variant="primary" icon={<Icons.Key />} disabledReason={reason} pending={create.isPending} onClick={() => create.mutate()}>
        Create {kind} token
      </Button>
    </div>
  )
}
