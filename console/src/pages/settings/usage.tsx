import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { apiQuery, type Schema } from '../../api'
import { segmentUses } from '../../requests/drafts'
import { Table, plural, type Column } from '../../ui'
import { strategyName } from '../../words/names'
import { flagPath } from '../flag/data'
import { describeStrategy } from '../flag/strategy/describe'
import { useSegmentNames } from '../flag/strategy/list'
import { EnvironmentName } from '../../ui/environmentname'
import { ProjectName } from '../../ui/projectname'

type Using = Schema<'UsingStrategy'>

/** How many strategies are asked for and shown. */
export const usageLimit = segmentUses

const columns: Column<Using>[] = [
  {
    id: 'flag',
    header: 'Flag',
    cell: (one) => (
      <Link to="/projects/$projectId/flags/$flag" params={{ projectId: one.projectId, flag: one.featureName }} className="break">
        {one.featureName}
      </Link>
    ),
  },
  { id: 'environment', header: 'Environment', cell: (one) => <EnvironmentName name={one.environment} /> },
  { id: 'strategy', header: 'Strategy', cell: (one) => <StrategyLink use={one} /> },
  { id: 'project', header: 'Project', cell: (one) => <ProjectLink id={one.projectId} /> },
]

// Its title, or whom it selects, which only its flag knows.
function StrategyLink({ use }: { use: Using }) {
  const path = { projectId: use.projectId, featureName: use.featureName }
  const names = useSegmentNames()
  const flag = useQuery({ ...apiQuery(flagPath, { path }), staleTime: 60_000 }).data
  const found = flag?.environments.flatMap(({ strategies }) => strategies).find(({ id }) => id === use.id)
  return (
    <Link
      to="/projects/$projectId/flags/$flag"
      params={{ projectId: use.projectId, flag: use.featureName }}
      search={{ strategy: use.id } as never}
      className="break"
    >
      {found ? found.title || describeStrategy(found, names).slice(0, -1) : strategyName(use.strategyName)}
    </Link>
  )
}

function ProjectLink({ id }: { id: string }) {
  return (
    <Link to="/projects/$projectId" params={{ projectId: id }}>
      <ProjectName id={id} />
    </Link>
  )
}

/** The strategies of flags, and the default strategies of projects, that use something. */
export function StrategyUsage({ label, strategies, defaults }: { label: string; strategies: readonly Using[]; defaults: readonly Schema<'UsingDefault'>[] }) {
  if (strategies.length === 0 && defaults.length === 0) return <p className="soft">No strategy uses it yet.</p>
  return (
    <div className="stack-s">
      {strategies.length > 0 && <Table cards label={label} columns={columns} rows={strategies.slice(0, usageLimit)} rowKey={(one) => one.id} />}
      {strategies.length >= usageLimit && <p className="soft small">The first {plural(usageLimit, 'strategy', 'strategies')} are shown.</p>}
      {defaults.slice(0, usageLimit).map((one) => (
        <p key={`${one.projectId} ${one.environment}`}>
          Default strategy of project <ProjectLink id={one.projectId} /> in <EnvironmentName name={one.environment} />
        </p>
      ))}
    </div>
  )
}
