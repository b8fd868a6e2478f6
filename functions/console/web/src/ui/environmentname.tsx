import { useQuery } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import { apiQuery } from '../api'
import { Badge } from './bits'
import { ProductionMark } from './production'

/** The name of an environment whose type the page does not know, with the mark of production. badge is the kind of the badge that has the name. */
export function EnvironmentName({ name, badge }: { name: string; badge?: ComponentProps<typeof Badge>['kind'] }) {
  const { data } = useQuery({ ...apiQuery('/api/admin/environments'), staleTime: 60_000 })
  const type = data?.environments.find((one) => one.name === name)?.type ?? ''
  return (
    <>
      {badge ? <Badge kind={badge}>{name}</Badge> : <span className="break">{name}</span>} <ProductionMark type={type} />
    </>
  )
}
