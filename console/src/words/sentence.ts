import { operatorName } from '../constraints/operators'
import { fieldName, strategyName } from './names'

/** A changed value: where it is, 'parameters › rollout', and its texts, 'nothing' for none. A long list has what it gained and lost instead. */
export interface ValueChange {
  path: string
  before: string
  after: string
  added?: readonly string[]
  removed?: readonly string[]
}

const states: Record<string, string> = { true: 'yes', false: 'no' }
const parts: Record<string, string> = { constraints: 'constraint', strategies: 'strategy', variants: 'variant' }

/** A change as a sentence: 'Rollout 25% → 50%', 'Added constraint: plan is one of gold', 'half: rollout 25% → 50%', 'Stale no → yes'. */
export function changeSentence({ path, before, after, added, removed }: ValueChange): string {
  const alone = before === 'nothing' ? after : after === 'nothing' ? before : `${before} → ${after}`
  if (path === '') return alone
  const keys = path.split(' › ').filter((key) => key !== 'parameters')
  const key = keys.at(-1)!
  const part = parts[keys.at(-2) ?? '']
  const outer = (of: readonly string[]) => of.filter((name) => !parts[name]).map((name) => strategyName(fieldName(name) === name ? name : named(name)))
  const [gone, isNew] = [after === 'nothing', before === 'nothing']
  if (part && gone !== isNew) {
    const where = outer(keys.slice(0, -2))
    // The sentence of a constraint begins with its field, and that of a strategy says more than its type.
    const name = part === 'constraint' || strategyName(key) !== key ? '' : ` ${key}`
    return `${gone ? 'Removed' : 'Added'} ${part}${name}${where.length > 0 ? ` in ${where.join(' › ')}` : ''}: ${gone ? before : after}`
  }
  const names = outer(keys.slice(0, -1))
  const field = fieldName(key)
  const name = names.length > 0 ? `${names.join(' › ')}: ${field === key ? key : field.charAt(0).toLowerCase() + field.slice(1)}` : field
  if (added && removed)
    return `${name}: ${[added.length > 0 && `added ${added.join(', ')}`, removed.length > 0 && `removed ${removed.join(', ')}`].filter(Boolean).join('; ')}`
  const text = (value: string) => valueText(key, value)
  if (isNew) return `${name} added: ${text(after)}`
  if (gone) return `${name} removed: ${text(before)}`
  return `${name} ${text(before)} → ${text(after)}`
}

// Names of environments, flags and variants stay as they are, and keys of the API become words.
const named = (key: string) => (/^[a-z]+$/.test(key) ? key : fieldName(key))

function valueText(key: string, value: string) {
  if (states[value]) return key.endsWith('Enabled') ? (value === 'true' ? 'on' : 'off') : states[value]
  if (key === 'operator') return operatorName(value)
  return ['rollout', 'percentage'].includes(key) && /^[\d.]+$/.test(value) ? `${value}%` : value
}
