import { useQuery } from '@tanstack/react-query'
import { apiQuery } from '../../api'
import type { Choice } from '../../ui'

const builtIn: Choice[] = [
  { value: 'default', label: 'Default: userId, else sessionId, else random' },
  { value: 'random', label: 'Random: different at each evaluation' },
]

/** What rollouts can use for stickiness. present is the stored value, which stays a choice. */
export function useStickinessChoices(present: string): Choice[] {
  const fields = useQuery(apiQuery('/api/admin/context'))
  const sticky = (fields.data ?? []).filter((field) => field.stickiness).map((field) => ({ value: field.name, label: field.name }))
  const choices = [...builtIn, ...sticky]
  return choices.some((choice) => choice.value === present) ? choices : [...choices, { value: present, label: present }]
}
