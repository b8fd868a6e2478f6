import { fieldName } from './names'

/** A changed value: where it is, 'parameters › rollout', and its texts, 'nothing' for none. */
export interface ValueChange {
  path: string
  before: string
  after: string
}

const states: Record<string, string> = { true: 'yes', false: 'no' }

/** A change as a sentence: 'Rollout 25% → 50%', 'Tag added: simple:web', 'Stale no → yes'. */
export function changeSentence({ path, before, after }: ValueChange): string {
  const keys = path.split(' › ').filter((key) => key !== 'parameters')
  const unit = ['rollout', 'percentage'].includes(keys.at(-1) ?? '') ? '%' : ''
  const text = (value: string) => states[value] ?? (/^[\d.]+$/.test(value) ? value + unit : value)
  const name = keys.map(fieldName).join(' › ')
  if (before === 'nothing') return `${name} added: ${text(after)}`
  if (after === 'nothing') return `${name} removed: ${text(before)}`
  return `${name} ${text(before)} → ${text(after)}`
}
