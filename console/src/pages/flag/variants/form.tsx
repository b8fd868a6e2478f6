import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { actorOf, api, invalidate, isConflict, type Schema, type Versioned } from '../../../api'
import { FormActions, useForm } from '../../../forms'
import { useProposal } from '../../../requests/drafts'
import { Dialog, Notice, toast } from '../../../ui'
import { ConflictDialog } from '../../../ui/conflict'
import { useAtOnce } from '../atonce'
import { environmentPath, placeIn, touched, useProject, useReasons, type Flag, type FlagEnvironment } from '../data'
import { variantDifferences } from './difference'
import { VariantListEditor } from './list'
import { LostVariants } from './lost'
import { draftOf, newVariant, percentOf, requestOf, weightProblem, weights, type Variant, type VariantDraft } from './model'
import { undoVariants } from './undo'

type Stored = Versioned<Schema<'VariantList'>>

interface VariantsFormProps {
  flag: Flag
  environment: FlagEnvironment
  title: string
  stored: Stored
  /** What is stored here is in the caller's draft. */
  drafted?: boolean
  copyFrom?: Variant[]
  onClose: () => void
}

/** The form of the variants of a flag in an environment, in a dialog. */
export function VariantsForm({ flag, environment, title, stored, drafted, copyFrom, onClose }: VariantsFormProps) {
  const client = useQueryClient()
  const stickiness = useProject(flag.project)?.defaultStickiness ?? 'default'
  const base = useRef(stored)
  const [conflict, setConflict] = useState<{ base: Stored; latest: Stored; who?: string }>()
  const path = placeIn(flag, environment.name)
  const [initial, setInitial] = useState(() => ({ variants: stored.body.variants.map(draftOf) }))
  const start = () => ({
    variants: copyFrom?.map(draftOf) ?? (initial.variants.length ? initial.variants : [1, 2].map(() => newVariant(stickiness, '', flag.valueType))),
  })
  const [opened] = useState(start)

  const put = (variants: VariantDraft[]) => api.request.put(`${environmentPath}/variants`, { path, body: variants.map(requestOf), ifMatch: base.current.etag })
  const propose = useProposal()
  const atOnce = useAtOnce(flag, environment)
  const send = async (variants: VariantDraft[]) => {
    if (await propose([put(variants)])) return onClose()
    const before = base.current.body.variants
    let made: Schema<'VariantList'>
    try {
      made = await api.send(put(variants))
    } catch (error) {
      if (!isConflict(error)) throw error
      const latest = await api.getVersioned(`${environmentPath}/variants`, { path })
      setConflict({ base: base.current, latest, who: await lastEditor(flag.name, environment.name) })
      return
    }
    toast.success(`${flag.name}: variants saved in ${environment.name}`, {
      undo: async () => {
        await undoVariants(flag, environment.name, made, before)
        await invalidate(client, touched)
      },
    })
    onClose()
    await invalidate(client, touched)
  }
  const form = useForm({
    initial: opened,
    submit: (values) => send(values.variants),
    check: (values) => ({ variants: weightProblem(values.variants) }),
    // The body of the request is the list itself.
    pointers: { variants: '' },
  })
  const { variants } = form.values
  const changed = inWords(initial.variants, variants)
  const accept = () => {
    base.current = conflict?.latest ?? base.current
    setConflict(undefined)
    void invalidate(client, touched)
    return { variants: base.current.body.variants.map(draftOf) }
  }
  const reason = useReasons(flag)('UPDATE_FEATURE_ENVIRONMENT_VARIANTS', environment.name)
  return (
    <Dialog open sheet onClose={onClose} title={title}>
      <form {...form.props}>
        {drafted && !copyFrom && <Notice>Your draft already changes these variants. The form has what it proposes.</Notice>}
        <VariantListEditor
          value={variants}
          onChange={(next) => form.set({ variants: next })}
          errorAt={form.errorAt}
          basePath=""
          stickiness={stickiness}
          overrides
          valueType={flag.valueType}
        />
        <LostVariants flag={flag} before={initial.variants} after={variants} />
        <FormActions
          form={form}
          submit={atOnce.label('Save variants')}
          onCancel={onClose}
          disabledReason={reason}
          sentence={((form.dirty || copyFrom) && atOnce.line(changed)) || <p className="strong at-once-text">{changed.after}</p>}
        />
      </form>
      {conflict && (
        <ConflictDialog
          open
          noun="list of variants"
          who={conflict.who}
          before={conflict.base.body.variants}
          after={conflict.latest.body.variants}
          onClose={() => setConflict(undefined)}
          onReload={() => {
            const next = accept()
            setInitial(next)
            form.reset(next)
          }}
          onOverwrite={() => {
            accept()
            void form.submit()
          }}
          pending={form.pending}
        />
      )}
    </Dialog>
  )
}

/** How many variants a line names before it counts the rest. */
const shownVariants = 5

/** Variants with their weights before and after a change, each on one line, and what the lines leave out. */
function inWords(before: readonly VariantDraft[], after: readonly VariantDraft[]) {
  const line = (variants: readonly VariantDraft[]) => {
    if (variants.length === 0) return ''
    if (variants.some(({ name }) => !name)) return 'Give each variant a name'
    const shares = weights(variants)
    const named = variants.slice(0, shownVariants).map(({ name }, index) => `${name} ${percentOf(shares[index] ?? 0)}`)
    return named.join(', ') + (variants.length > shownVariants ? ` and ${variants.length - shownVariants} others` : '')
  }
  const lines = { before: line(before), after: line(after) || 'No variants: the flag is only on or off' }
  const complete = lines.before !== lines.after && Math.max(before.length, after.length) <= shownVariants
  return complete ? lines : { ...lines, differences: variantDifferences(before, after) }
}

/** Who changed the variants in an environment last, by the event log of the flag. */
async function lastEditor(featureName: string, environment: string): Promise<string | undefined> {
  try {
    const { events } = await api.get('/api/admin/events/{featureName}', { path: { featureName } })
    const last = events.find((event) => event.type.includes('variant') && event.environment === environment)
    return last && actorOf(last)
  } catch {
    return undefined // the name is only a help
  }
}
