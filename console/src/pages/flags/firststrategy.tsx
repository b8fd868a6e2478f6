import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, apiQuery, invalidate } from '../../api'
import { useProposal, useProtection } from '../../requests/drafts'
import { SkipsFreeze } from '../../requests/freeze'
import { ConfirmDialog, Loading, Notice, followsAtOnce, toast, useAsks } from '../../ui'
import { expectNone, removeFirst } from '../flag/added'
import { flagPath } from '../flag/data'
import { onlyWhere } from '../flag/strategy/describe'
import { aroundFlags, patchRows } from './data'
import { switched } from './rows'

interface FirstStrategyProps {
  projectId: string
  name: string
  environment: { name: string; type: string }
  onClose: () => void
}

/** Asks before a flag without strategies is switched on: the server wants a strategy first. */
export function FirstStrategyDialog({ projectId, name, environment: place, onClose }: FirstStrategyProps) {
  const client = useQueryClient()
  const environment = place.name
  const path = { projectId, featureName: name, environment }
  const propose = useProposal()
  const protection = useProtection(projectId)
  // The list does not say which parents limit who gets the flag.
  const flag = useQuery({ ...apiQuery(flagPath, { path: { projectId, featureName: name } }), refetchOnMount: 'always' })
  const dependencies = flag.data?.dependencies ?? []
  const atOnce = useAsks()(place) && !protection.drafts(environment)
  const strategyRequest = api.request.post('/api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies', {
    path,
    body: { name: 'flexibleRollout', parameters: { rollout: '100', stickiness: 'default', groupId: name } },
  })
  const onRequest = api.request.post('/api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/on', { path })
  const add = async () => {
    if (await propose([strategyRequest, onRequest])) return
    await expectNone(path)
    const strategy = await api.send(strategyRequest)
    await api.send(onRequest)
    patchRows(client, [name], (row) => switched(row, environment, true))
    await invalidate(client, aroundFlags)
    toast.success(`${name} is on in ${environment} for everyone`, {
      undo: async () => {
        await removeFirst(path, strategy)
        await invalidate(client, ['/api/admin/projects/{projectId}/features', ...aroundFlags])
      },
    })
  }
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      danger={false}
      title={`${name} has no strategy in ${environment}`}
      description="A strategy decides who gets the flag. Give it to everyone now, or open the flag to choose who gets it."
      action={protection.label('Switch on for everyone', environment)}
      onConfirm={add}
    >
      {flag.isPending && <Loading lines={1} />}
      {dependencies.length > 0 && <p className="break">{onlyWhere(dependencies)}</p>}
      {atOnce && (
        <Notice kind="warn">
          {followsAtOnce(place)}
          <SkipsFreeze project={projectId} environment={environment} />
        </Notice>
      )}
      <p>
        <Link to="/projects/$projectId/flags/$flag" params={{ projectId, flag: name }}>
          Open {name}
        </Link>
      </p>
    </ConfirmDialog>
  )
}
