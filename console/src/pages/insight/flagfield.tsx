import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { apiQuery } from '../../api'
import { SuggestField } from '../../ui/suggest'

interface FlagFieldProps {
  /** Only flags of this project are suggested; empty for all. */
  project: string
  value: string
  onChange: (flag: string) => void
  label?: string
}

/** The flags whose names contain a text. */
export const suggestedFlags = (project: string, text: string) =>
  apiQuery('/api/admin/search/features', { query: { query: text, project: project ? `IS:${project}` : undefined, limit: '20', sortBy: 'name' } })

/** The name of a flag, with suggestions. */
export function FlagField({ project, value, onChange, label = 'Flag' }: FlagFieldProps) {
  const flags = useQuery({
    ...suggestedFlags(project, value.trim()),
    placeholderData: keepPreviousData,
  })
  const suggestions = (flags.data?.features ?? []).map(({ name }) => ({ value: name }))
  return <SuggestField label={label} placeholder="Name of a flag" suggestions={suggestions} value={value} onChange={onChange} maxLength={100} />
}
