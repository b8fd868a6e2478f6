import { useQuery } from '@tanstack/react-query'
import { versionedQuery } from '../../../api'
import { useDrafted } from '../../../requests/drafted'
import { Dialog, ErrorState } from '../../../ui'
import { environmentPath, placeIn, type Flag, type FlagEnvironment } from '../data'
import { VariantsForm } from './form'
import type { Variant } from './model'

interface VariantsEditorProps {
  flag: Flag
  environment: FlagEnvironment
  /** The variants of another environment, to start from. */
  copyFrom?: Variant[]
  onClose: () => void
}

/** The dialog that edits the variants of a flag in an environment. It reads them with their version when it opens. */
export function VariantsEditor({ flag, environment, copyFrom, onClose }: VariantsEditorProps) {
  const path = placeIn(flag, environment.name)
  const query = useQuery({
    ...versionedQuery(`${environmentPath}/variants`, { path }),
    // The form starts from this version: it must be the newest, and must not change below the form.
    gcTime: 0,
    staleTime: Infinity,
    refetchOnMount: 'always',
  })
  const drafted = useDrafted(flag, environment.name)
  const proposed = drafted.data?.findLast(({ action }) => action === 'patchVariant')?.payload as { variants: Variant[] } | undefined
  const title = `Variants in ${environment.name}`
  if (query.data && drafted.data)
    return (
      <VariantsForm
        flag={flag}
        environment={environment}
        title={title}
        stored={proposed ? { ...query.data, body: { ...query.data.body, variants: proposed.variants } } : query.data}
        drafted={Boolean(proposed)}
        copyFrom={copyFrom}
        onClose={onClose}
      />
    )
  // The dialog opens when the variants have been read: it then has its size, and the focus goes to its first field.
  const failed = query.error ? query : drafted.error ? drafted : undefined
  if (!failed) return null
  return (
    <Dialog open onClose={onClose} title={title}>
      <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />
    </Dialog>
  )
}
