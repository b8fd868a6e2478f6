import type { Schema } from '../../api'

interface StageText {
  label: string
  hint: string
  kind: 'neutral' | 'ok' | 'accent'
}

const stages: Record<string, StageText> = {
  initial: { label: 'Initial', hint: 'No application has used the flag since it was created or revived.', kind: 'neutral' },
  'pre-live': { label: 'Pre-live', hint: 'Applications use the flag, but not in production yet.', kind: 'neutral' },
  live: { label: 'Live', hint: 'Applications use the flag in production.', kind: 'ok' },
  completed: { label: 'Completed', hint: 'The work is done: remove the flag from the code, then archive it.', kind: 'accent' },
  archived: { label: 'Archived', hint: 'Applications do not get the flag.', kind: 'neutral' },
}

const offInProduction: StageText = { label: 'Live, off', hint: 'Applications have used the flag in production, where it is off now.', kind: 'neutral' }

/** The lifecycle stage of a flag as people read it. Give the environments of a flag to tell whether a live one is on in production now. */
export function lifecycleText(phase: Pick<Schema<'Phase'>, 'stage'> | undefined, environments?: readonly { type?: string; enabled: boolean }[]): StageText {
  const stage = phase?.stage ?? 'initial'
  if (stage === 'live' && environments && !environments.some((one) => one.type === 'production' && one.enabled)) return offInProduction
  return stages[stage] ?? { label: stage, hint: '', kind: 'neutral' }
}
