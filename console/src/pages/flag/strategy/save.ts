import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { actorOf, api, invalidate, isConflict, isNotFound, type ApiRequest, type Schema, type Versioned } from '../../../api'
import { useProposal } from '../../../requests/drafts'
import { toast } from '../../../ui'
import { expectNone } from '../added'
import { environmentPath, touched, type Flag, type FlagEnvironment } from '../data'
import { storedIn, strategyPath, switchedOff, switchesOff, undoStrategy } from './changes'
import { strategyRequest, type Strategy, type StrategyDraft } from './model'

interface SaveOptions {
  flag: Flag
  environment: FlagEnvironment
  /** The strategy that the form started from, with its version; undefined for a new one. */
  stored?: Versioned<Strategy>
  switchOn: boolean
  onSaved: () => void
  /** Saves it elsewhere: in a change request. */
  saveInstead?: (strategy: Schema<'NewStrategyRequest'>) => Promise<unknown>
}

/** A change that was refused because someone else changed the strategy. */
export interface Conflict {
  /** The version that the form started from. */
  base: Strategy
  latest: Versioned<Strategy>
  /** Who changed it, if the event log says so. */
  who?: string
}

/** Saves a strategy. It sends the version that was read, and reports a conflict instead of replacing another person's change. */
export function useSaveStrategy({ flag, environment, stored, switchOn, onSaved, saveInstead }: SaveOptions) {
  const client = useQueryClient()
  const base = useRef(stored)
  const [conflict, setConflict] = useState<Conflict>()
  const [removed, setRemoved] = useState(false)
  const path = { projectId: flag.project, featureName: flag.name, environment: environment.name }

  const propose = useProposal()

  const done = async (text: string, change: { made: Strategy; before: Strategy | null; off?: boolean }) => {
    toast.success(`${flag.name}: ${text}`, {
      undo: async () => {
        await undoStrategy({ flag, environment: environment.name, ...change })
        await invalidate(client, touched)
      },
    })
    onSaved()
    await invalidate(client, touched)
  }
  const add = (values: StrategyDraft) => api.request.post(`${environmentPath}/strategies`, { path, body: strategyRequest(values) })
  const on = api.request.post(`${environmentPath}/on`, { path })
  const put = (values: StrategyDraft, { body, etag }: Versioned<Strategy>) =>
    api.request.put(strategyPath, { path: { ...path, strategyId: body.id }, body: strategyRequest(values), ifMatch: etag })
  const create = async (values: StrategyDraft) => {
    if (switchOn) await expectNone(path)
    const made = await api.send(add(values))
    if (switchOn) await api.send(on)
    // Undo removes it: without a strategy the flag is off again.
    await done(`strategy added in ${environment.name}${switchOn ? ', and the flag switched on' : ''}`, { made, before: null })
  }
  const replace = async (values: StrategyDraft, version: Versioned<Strategy>) => {
    const { body } = version
    const off = values.disabled && switchesOff(await storedIn(flag, environment.name), body)
    let made
    try {
      made = await api.send(put(values, version))
    } catch (error) {
      if (isConflict(error)) {
        const latest = await api.getVersioned(strategyPath, { path: { ...path, strategyId: body.id } })
        setConflict({ base: body, latest, who: await lastEditor(flag.name, body.id) })
        return
      }
      if (!isNotFound(error)) throw error
      setRemoved(true)
      return
    }
    await done(`strategy saved in ${environment.name}${off ? switchedOff : ''}`, { made, before: body, off })
  }
  const requests = (values: StrategyDraft): ApiRequest[] => (base.current && !removed ? [put(values, base.current)] : [add(values), ...(switchOn ? [on] : [])])
  return {
    conflict,
    removed,
    submit: async (values: StrategyDraft) => {
      if (saveInstead) await saveInstead(strategyRequest(values))
      else if (await propose(requests(values))) onSaved()
      else await (base.current && !removed ? replace(values, base.current) : create(values))
    },
    /** Takes note of the version that caused the conflict, and returns it: the next submit replaces it. */
    acceptLatest: (): Strategy | undefined => {
      base.current = conflict?.latest ?? base.current
      setConflict(undefined)
      void invalidate(client, touched)
      return base.current?.body
    },
    dismiss: () => setConflict(undefined),
  }
}

/** Who changed a strategy last, by the event log of the flag. */
async function lastEditor(featureName: string, strategyId: string): Promise<string | undefined> {
  try {
    const { events } = await api.get('/api/admin/events/{featureName}', { path: { featureName } })
    const last = events.find((event) => event.type.startsWith('feature-strategy') && isAbout(event, strategyId))
    return last && actorOf(last)
  } catch {
    return undefined // the name is only a help
  }
}

const isAbout = (event: Schema<'Event'>, strategyId: string) => event.data?.id === strategyId || event.preData?.id === strategyId
