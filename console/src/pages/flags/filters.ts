import { number, type Choice } from '../../ui'
import type { Filter } from '../../ui/filters'
import { countTags, flagTypes, lifecycleStages, type FlagFilter, type FlagRow } from './rows'

const tagLimit = 200

/** The filters of all lists of flags. tags are the tags to choose from. */
export const commonFilters = (environments: readonly Choice[], tags: readonly Choice[]) =>
  [
    {
      name: 'status',
      label: 'On or off',
      choices: environments.flatMap((environment) => [
        { ...environment, value: `${environment.value}:on`, label: `On in ${environment.label}` },
        { ...environment, value: `${environment.value}:off`, label: `Off in ${environment.label}` },
      ]),
    },
    { name: 'tag', label: 'Tag', choices: tags },
    { name: 'type', label: 'Type', choices: flagTypes },
    { name: 'lifecycle', label: 'Lifecycle', choices: lifecycleStages },
    {
      name: 'state',
      label: 'Marked as',
      choices: [
        { value: 'stale', label: 'Stale' },
        { value: 'active', label: 'Not stale' },
      ],
    },
  ] as const satisfies Filter[]

/** The filters of the flags of a project. */
export function flagFilters(rows: readonly FlagRow[], environments: readonly Choice[]): Filter<Exclude<keyof FlagFilter, 'q'>>[] {
  const tags = countTags(rows, tagLimit).map(({ tag, count }) => ({ value: tag, label: tag, note: number(count) }))
  return [...commonFilters(environments, tags), { name: 'favorites', label: 'Favorites', choices: [{ value: 'true', label: 'Favorites' }] }]
}
