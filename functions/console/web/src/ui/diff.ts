/** A line of a comparison. */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed'
  text: string
}

const maxLines = 1500

/** Compares two values as JSON, line by line. Keys are sorted, so that their order is no change. */
export function diffLines(before: unknown, after: unknown): DiffLine[] {
  const a = lines(before)
  const b = lines(after)
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const same = (text: string): DiffLine => ({ kind: 'same', text })
  return [...a.slice(0, start).map(same), ...compare(a.slice(start, a.length - end), b.slice(start, b.length - end)), ...a.slice(a.length - end).map(same)]
}

function lines(value: unknown): string[] {
  if (value === undefined || value === null) return []
  return JSON.stringify(sortKeys(value), null, 2).split('\n')
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sortKeys(member)]),
  )
}

// compare finds the longest common lines. Very long values are shown as removed and added as a whole.
function compare(a: string[], b: string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: 'removed', text })
  const added = (text: string): DiffLine => ({ kind: 'added', text })
  if (a.length === 0 || b.length === 0 || a.length > maxLines || b.length > maxLines) return [...a.map(removed), ...b.map(added)]
  const width = b.length + 1
  const common = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? common[(i + 1) * width + j + 1]! + 1 : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!)
    }
  }
  const result: DiffLine[] = []
  let i = 0
  let j = 0
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      result.push({ kind: 'same', text: a[i]! })
      i++
      j++
    } else if (common[(i + 1) * width + j]! >= common[i * width + j + 1]!) result.push(removed(a[i++]!))
    else result.push(added(b[j++]!))
  }
  return [...result, ...a.slice(i).map(removed), ...b.slice(j).map(added)]
}
