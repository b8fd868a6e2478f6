import { useQuery } from '@tanstack/react-query'
import { versionedQuery } from '../../../api'
import { Dialog, ErrorState, isProduction } from '../../../ui'
import { type Flag, type FlagEnvironment } from '../data'
import { strategyPath } from './changes'
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
  const where = isProduction(environment) && environment.name !== 'production' ? `${environment.name} (production)` : environment.name
  const title = isNew ? `Add strategy in ${where}` : `Strategy in ${where}`
  if (isNew || query.data) return <StrategyForm flag={flag} environment={environment} title={title} stored={query.data} switchOn={switchOn} onClose={onClose} />
  // The dialog opens when the strategy has been read: it then has its size, and the focus goes to its first field.
  if (!query.error) return null
  return (
    <Dialog open onClose={onClose} title={title}>
      <ErrorState error={query.error} onRetry={() => void query.refetch()} />
    </Dialog>
  )
}
