import { diffJson } from 'diff'

/** A line of a comparison. */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed'
  text: string
}

// Values that differ in more lines are shown as removed and added as a whole: comparing them would take seconds.
const maxEditLength = 1000

/** Compares two values as JSON, line by line. Keys are sorted, so their order makes no difference. */
export function diffLines(before: unknown, after: unknown): DiffLine[] {
  const [a, b] = [before ?? '', after ?? '']
  const parts = diffJson(a, b, { maxEditLength }) ?? [...diffJson(a, ''), ...diffJson('', b)]
  return parts.flatMap(({ value, added, removed }) => {
    const kind = added ? 'added' : removed ? 'removed' : 'same'
    const lines = value.replace(/\n$/, '').split('\n')
    return lines.map((text) => ({ kind, text }) as const)
  })
}
