import { useQuery } from '@tanstack/react-query'
import { api, apiQuery } from '../../api'
import { Page } from '../../shell'
import { TokenList } from './tokenlist'

const path = '/api/admin/api-tokens'

/** The API tokens of all projects that the caller can read. */
export default function ApiTokensPage() {
  const tokens = useQuery(apiQuery(path))
  return (
    <Page title="API tokens" description="Applications read flags with an API token. A token belongs to one environment, and to one, several or all projects.">
      <TokenList
        query={tokens}
        invalidates={['/api/admin/api-tokens', '/api/admin/projects/{projectId}/api-tokens']}
        create={(body) => api.request.post(path, { body })}
        remove={(token) => api.delete('/api/admin/api-tokens/{token}', { path: { token } })}
      />
    </Page>
  )
}
