import { Link } from '@tanstack/react-router'
import type { Schema } from '../../api'
import { segmentUses } from '../../requests/drafts'
import { Table, plural, type Column } from '../../ui'
import { strategyName } from '../../words/names'
import { EnvironmentName } from '../../ui/environmentname'

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
  { id: 'strategy', header: 'Strategy', cell: (one) => strategyName(one.strategyName) },
  { id: 'project', header: 'Project', cell: (one) => <ProjectLink id={one.projectId} /> },
]

function ProjectLink({ id }: { id: string }) {
  return (
    <Link to="/projects/$projectId" params={{ projectId: id }}>
      {id}
    </Link>
  )
}

/** The strategies of flags, and the default strategies of projects, that use something. */
export function StrategyUsage({ label, strategies, defaults }: { label: string; strategies: readonly Using[]; defaults: readonly Schema<'UsingDefault'>[] }) {
  if (strategies.length === 0 && defaults.length === 0) return <p className="soft">No strategy uses it yet.</p>
  return (
    <div className="stack-s">
      {strategies.length > 0 && <Table label={label} columns={columns} rows={strategies.slice(0, usageLimit)} rowKey={(one) => one.id} />}
      {strategies.length >= usageLimit && <p className="soft small">The first {plural(usageLimit, 'strategy', 'strategies')} are shown.</p>}
      {defaults.slice(0, usageLimit).map((one) => (
        <p key={`${one.projectId} ${one.environment}`}>
          Default strategy of project <ProjectLink id={one.projectId} /> in <EnvironmentName name={one.environment} />
        </p>
      ))}
    </div>
  )
}
