import { useQuery } from '@tanstack/react-query'
import { versionedQuery } from '../../../api'
import { useDrafted } from '../../../requests/drafted'
import { Dialog, ErrorState, isProduction } from '../../../ui'
import { type Flag, type FlagEnvironment } from '../data'
import { proposedOf, strategyPath } from './changes'
import { StrategyForm } from './form'

interface EditorProps {
  flag: Flag
  environment: FlagEnvironment
  /** 'new' or the id of a strategy. */
  id: string
  /** Switches the flag on after a new strategy was added. */
  switchOn: boolean
  onClose: () => void
}

/** The dialog that creates or edits a strategy. It reads the strategy with its version when it opens. */
export function StrategyEditor({ flag, environment, id, switchOn, onClose }: EditorProps) {
  const isNew = id === 'new'
  const path = { projectId: flag.project, featureName: flag.name, environment: environment.name, strategyId: id }
  const query = useQuery({
    ...versionedQuery(strategyPath, { path }),
    enabled: !isNew,
    // The form starts from this version: it must be the newest, and must not change below the form.
    gcTime: 0,
    staleTime: Infinity,
    refetchOnMount: 'always',
  })
  const drafted = useDrafted(flag, environment.name)
  const proposed = drafted.data && proposedOf(drafted.data, id)
  const where = isProduction(environment) && environment.name !== 'production' ? `${environment.name} (production)` : environment.name
  const title = isNew ? `Add strategy in ${where}` : `Strategy in ${where}`
  const form = { flag, environment, title, switchOn, onClose }
  if (isNew) return <StrategyForm {...form} />
  if (query.data && drafted.data)
    return <StrategyForm {...form} stored={proposed ? { ...query.data, body: { ...query.data.body, ...proposed } } : query.data} drafted={Boolean(proposed)} />
  // The dialog opens when the strategy has been read: it then has its size, and the focus goes to its first field.
  const failed = query.error ? query : drafted.error ? drafted : undefined
  if (!failed) return null
  return (
    <Dialog open onClose={onClose} title={title}>
      <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />
    </Dialog>
  )
}
