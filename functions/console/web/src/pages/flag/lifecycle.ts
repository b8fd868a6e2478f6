import type { Schema } from '../../api'

interface StageText {
  label: string
  hint: string
  kind: 'neutral' | 'info' | 'ok' | 'accent'
}

const stages: Record<string, StageText> = {
  initial: { label: 'Defined', hint: 'No application has used the flag yet.', kind: 'neutral' },
  'pre-live': { label: 'In development', hint: 'Applications use the flag, but not in production yet.', kind: 'info' },
  live: { label: 'In production', hint: 'Applications use the flag in production.', kind: 'ok' },
  completed: { label: 'Completed', hint: 'The work is done: remove the flag from the code, then archive it.', kind: 'accent' },
  archived: { label: 'Archived', hint: 'Applications do not get the flag.', kind: 'neutral' },
}

/** The lifecycle stage of a flag as people read it. */
export function lifecycleText(phase: Pick<Schema<'Phase'>, 'stage'> | undefined): StageText {
  const stage = phase?.stage ?? 'initial'
  return stages[stage] ?? { label: stage, hint: '', kind: 'neutral' }
}
