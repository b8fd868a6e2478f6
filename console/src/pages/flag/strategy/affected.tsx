import { useQuery } from '@tanstack/react-query'
import { apiQuery } from '../../../api'
import { Loading } from '../../../ui'
import { flagPath, useProject, type Flag, type FlagEnvironment } from '../data'
import { usePlan } from '../plan/data'
import { activeIndex, asStrategy } from '../plan/model'
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
  const found = data?.environments.find((one) => one.name === environment)
  return found ? <AffectedIn flag={data!} environment={found} on={on} /> : <Loading lines={1} />
}

function AffectedIn({ flag, environment, on }: { flag: Flag; environment: FlagEnvironment; on: boolean }) {
  const standard = useProject(flag.project)?.environments.find((one) => one.environment === environment.name)?.defaultStrategy
  const names = useSegmentNames()
  const plan = usePlan(flag, environment)
  const { strategies } = environment
  // The first milestone starts with switching on.
  const first = on && plan && activeIndex(plan) < 0 ? (plan.milestones[0]!.strategies ?? []).map(asStrategy) : []
  const sentences = [...strategies, ...first].filter((one) => !one.disabled).map((one) => ({ id: one.id, text: describeStrategy(one, names) }))
  if (strategies.length === 0 && standard && environment.planState === undefined) sentences.push({ id: '', text: describeStandard(standard, names) })
  const others = flag.children.length > 0 && <p className="break">{childrenText(flag.children)}</p>
  if (environment.planState !== undefined && !plan) return <Loading lines={1} />
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
      {flag.dependencies.length > 0 && <p>{onlyWhere(flag.dependencies)}</p>}
      {others}
    </div>
  )
}
