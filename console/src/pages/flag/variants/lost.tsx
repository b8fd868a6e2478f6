import { useQuery } from '@tanstack/react-query'
import { api } from '../../../api'
import { Loading, Notice, plural } from '../../../ui'
import { flagPath, type Flag } from '../data'
import { firstNames } from '../strategy/describe'
import { weights, type VariantDraft } from './model'

const readChildren = 20

/** The variants that no one gets by their weights after a change: without a weight, renamed or removed. */
export function lostVariants(before: readonly VariantDraft[], after: readonly VariantDraft[]): string[] {
  const given = (variants: readonly VariantDraft[]) => {
    const all = weights(variants)
    return variants.filter((_, index) => all[index]! > 0).map(({ name }) => name.trim())
  }
  const kept = new Set(given(after))
  return given(before).filter((name) => !kept.has(name))
}

/** The flags that need one of the variants of their parent, each with those that it needs. */
export function needing(variants: readonly string[], parent: string, children: readonly Pick<Flag, 'name' | 'dependencies'>[]): string[] {
  return children.flatMap(({ name, dependencies }) => {
    const needed = dependencies.find(({ feature }) => feature === parent)?.variants.filter((one) => variants.includes(one)) ?? []
    return needed.length > 0 ? `${name} (${needed.join(', ')})` : []
  })
}

interface LostVariantsProps {
  flag: Flag
  before: readonly VariantDraft[]
  after: readonly VariantDraft[]
}

/** Names the flags that depend on a variant that a change takes away. */
export function LostVariants({ flag, before, after }: LostVariantsProps) {
  const lost = lostVariants(before, after)
  const children = flag.children.slice(0, readChildren)
  const { data, isLoading } = useQuery({
    queryKey: [flagPath, 'children', flag.project, ...children],
    queryFn: () => Promise.all(children.map((featureName) => api.get(flagPath, { path: { projectId: flag.project, featureName } }))),
    enabled: lost.length > 0 && children.length > 0,
  })
  const names = needing(lost, flag.name, data ?? [])
  const unread = flag.children.length - children.length
  if (isLoading) return <Loading lines={1} />
  return (
    names.length > 0 && (
      <Notice kind="warn">
        <p className="break">
          These flags need a variant that is removed, renamed or gets 0% here: {firstNames(names)}.
          {unread > 0 && ` ${plural(unread, 'other flag')} that can need one, too, ${unread === 1 ? 'was' : 'were'} not read.`}
        </p>
      </Notice>
    )
  )
}
