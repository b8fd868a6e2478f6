import { useQuery } from '@tanstack/react-query'
import { apiQuery } from '../../../api'
import { Loading } from '../../../ui'
import { flagPath, useProject } from '../data'
import { childrenText, describeStandard, describeStrategy, onlyWhere } from './describe'
import { useSegmentNames } from './list'

interface AffectedProps {
  projectId: string
  flag: string
  environment: string
  on: boolean
}

/** Whom the switch of a flag in an environment concerns: a sentence for each strategy that applies there. */
export function Affected({ projectId, flag, environment, on }: AffectedProps) {
  // The page may be seconds old. What the question says is read when it is asked.
  const { data } = useQuery({ ...apiQuery(flagPath, { path: { projectId, featureName: flag } }), refetchOnMount: 'always' })
  const standard = useProject(projectId)?.environments.find((one) => one.environment === environment)?.defaultStrategy
  const names = useSegmentNames()
  const strategies = data?.environments.find((one) => one.name === environment)?.strategies
  if (!strategies) return <Loading lines={1} />
  const active = strategies.filter((one) => !one.disabled)
  const sentences = active.map((one) => ({ id: one.id, text: describeStrategy(one, names) }))
  if (strategies.length === 0 && standard) sentences.push({ id: '', text: describeStandard(standard, names) })
  const others = data.children.length > 0 && <p className="break">{childrenText(data.children)}</p>
  if (sentences.length === 0)
    return (
      <>
        <p>Every strategy there is disabled, so no one {on ? 'gets' : 'loses'} the flag.</p>
        {others}
      </>
    )
  return (
    <div className="stack-s">
      <p>{on ? 'The flag will be on for:' : 'The flag will be off for:'}</p>
      <ul aria-label="Whom it concerns">
        {sentences.map(({ id, text }) => (
          <li key={id} className="strong break">
            {text}
          </li>
        ))}
      </ul>
      {data.dependencies.length > 0 && <p>{onlyWhere(data.dependencies)}</p>}
      {others}
    </div>
  )
}
