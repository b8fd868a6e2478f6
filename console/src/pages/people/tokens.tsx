import { useQuery } from '@tanstack/react-query'
import { api, apiQuery } from '../../api'
import { Page } from '../../shell'
import { CreateToken, TokenList } from './tokenlist'

const path = '/api/admin/api-tokens'

/** The API tokens of all projects that the caller can read. */
export default function ApiTokensPage() {
  const tokens = useQuery(apiQuery(path))
  return (
    <Page title="API tokens" description="Applications read their flags with a token." actions={<CreateToken />}>
      <TokenList
        query={tokens}
        invalidates={['/api/admin/api-tokens', '/api/admin/projects/{projectId}/api-tokens']}
        create={(body) => api.request.post(path, { body })}
        remove={(token) => api.delete('/api/admin/api-tokens/{token}', { path: { token } })}
      />
    </Page>
  )
}
