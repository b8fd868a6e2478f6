import { api, useChange, type Schema } from '../../api'
import { at, requestPath, touchedRequests, versionOf, type ChangeRequest, type StoredChange } from '../../requests/data'
import type { Flag } from '../flag/data'
import { StrategyForm } from '../flag/strategy/form'
import { complete } from './present'

interface EditStrategyProps {
  request: ChangeRequest
  change: StoredChange
  flag: Flag
  onClose: () => void
}

/** Edits the strategy that a change of a change request adds or changes. */
export default function EditStrategy({ request, change, flag, onClose }: EditStrategyProps) {
  const environment = flag.environments.find((one) => one.name === request.environment)
  const proposed = change.payload as { id?: string } & Partial<Schema<'Strategy'>>
  const save = useChange({
    change: (strategy: Schema<'NewStrategyRequest'>) =>
      api.put(`${requestPath}/changes/{changeId}`, {
        path: { ...at(request), changeId: change.id },
        body: {
          feature: flag.name,
          action: change.action as Schema<'ChangeRequest'>['action'],
          payload: change.action === 'updateStrategy' ? { id: proposed.id, ...strategy } : strategy,
        },
        ifMatch: versionOf(request),
      }),
    invalidates: touchedRequests,
    success: 'Change saved. Approvals that it had have ended.',
    showsErrors: true,
    onSuccess: onClose,
  })
  if (!environment) return null
  const stored = environment.strategies.find((one) => one.id === proposed.id)
  return (
    <StrategyForm
      flag={flag}
      environment={environment}
      title={`Proposed strategy in ${environment.name}`}
      stored={{ body: complete({ ...stored, ...proposed }), etag: null }}
      switchOn={false}
      onClose={onClose}
      saveInstead={(strategy) => save.mutateAsync(strategy)}
    />
  )
}
