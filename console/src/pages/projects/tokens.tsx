import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api, apiQuery, type Schema } from '../../api'
import { TokenList } from '../people/tokenlist'

const path = '/api/admin/projects/{projectId}/api-tokens'

/** The API tokens of a project. */
export default function TokensTab() {
  const { projectId } = useParams({ from: '/projects/$projectId' })
  const tokens = useQuery(apiQuery(path, { path: { projectId } }))
  return (
    <TokenList
      project={projectId}
      query={tokens}
      invalidates={['/api/admin/api-tokens', path]}
      create={(body) => api.request.post(path, { path: { projectId }, body: body as Schema<'CreateProjectTokenRequest'> })}
      remove={(token) => api.delete('/api/admin/projects/{projectId}/api-tokens/{token}', { path: { projectId, token } })}
    />
  )
}
