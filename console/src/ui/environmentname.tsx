import { useQuery } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import { apiQuery } from '../api'
import { Badge } from './bits'
import type { Choice } from './field'
import { UnnamedProduction, environmentChoice } from './production'

/** The name of an environment whose type the page does not know, with the mark of production. badge is the kind of the badge that has the name. */
export function EnvironmentName({ name, badge }: { name: string; badge?: ComponentProps<typeof Badge>['kind'] }) {
  const typeOf = useTypes()
  return (
    <>
      {badge ? <Badge kind={badge}>{name}</Badge> : <span className="break">{name}</span>} <UnnamedProduction name={name} type={typeOf(name)} />
    </>
  )
}

/** The mark of production for an environment that a sentence before it names. */
export const EnvironmentMark = ({ name }: { name: string }) => <UnnamedProduction name={name} type={useTypes()(name)} />

/** All environments or one of the named ones, as the choices of a filter. */
export function useEnvironmentChoices(names: readonly string[]): Choice[] {
  const typeOf = useTypes()
  return [{ value: '', label: 'All environments' }, ...names.map((name) => environmentChoice({ name, type: typeOf(name) }))]
}

/** The types of environments by their names: '' if it is not known. */
function useTypes() {
  const { data } = useQuery({ ...apiQuery('/api/admin/environments'), staleTime: 60_000 })
  return (name: string) => data?.environments.find((one) => one.name === name)?.type ?? ''
}
