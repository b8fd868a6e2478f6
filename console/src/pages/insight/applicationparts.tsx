import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schema } from '../../api'
import { Badge, DateTime, EmptyState, Icons, Pagination, Section, Table, number, reportsNoted, usesNoted, type Column } from '../../ui'
import { EnvironmentName } from '../../ui/environmentname'
import { ProjectName } from '../../ui/projectname'

const pageSize = 20

/** The environments that an application reported from, with SDKs and issues. */
export function EnvironmentsOfApp({ environments }: { environments: readonly Schema<'EnvironmentOverview'>[] }) {
  return (
    <Section title="Environments">
      <Table
        cards
        label="Environments"
        columns={environmentColumns}
        rows={environments}
        rowKey={(one) => one.name}
        empty={<p className="soft">It has not reported from an environment yet.</p>}
      />
    </Section>
  )
}

const environmentColumns: Column<Schema<'EnvironmentOverview'>>[] = [
  {
    id: 'name',
    header: 'Environment',
    cell: (one) => (
      <span className="strong">
        <EnvironmentName name={one.name} />
      </span>
    ),
  },
  { id: 'instances', header: 'Instances', align: 'right', cell: (one) => <span className="number">{number(one.instanceCount)}</span> },
  { id: 'sdks', header: 'SDKs', cell: (one) => <Names names={one.sdks} /> },
  { id: 'issues', header: 'Issues', cell: (one) => <Issues issues={one.issues} /> },
  { id: 'seen', header: 'Last report', cell: (one) => <DateTime value={one.lastSeen} noted={reportsNoted} /> },
]

function Issues({ issues: { missingFeatures, outdatedSdks, unknownOperators } }: { issues: Schema<'EnvironmentIssues'> }) {
  if (missingFeatures.length + outdatedSdks.length + unknownOperators.length === 0) return <Badge kind="ok">None</Badge>
  return (
    <div className="stack-s">
      {missingFeatures.length > 0 && (
        <p className="break">
          <Badge kind="warn">Unknown flags</Badge> {some(missingFeatures)}
        </p>
      )}
      {outdatedSdks.length > 0 && (
        <p className="break">
          <Badge kind="warn">Outdated SDK</Badge> {some(outdatedSdks)}
        </p>
      )}
      {unknownOperators.length > 0 && (
        <p className="break">
          <Badge kind="warn">Off in an SDK</Badge> {some(unknownOperators.map((one) => `${one.featureName} (${one.operator})`))}: the SDK does not know the
          operator
        </p>
      )}
    </div>
  )
}

function Names({ names }: { names: readonly string[] }) {
  return names.length === 0 ? <span className="soft">Unknown</span> : <span className="break">{some(names)}</span>
}

const some = (names: readonly string[]) => (names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${number(names.length - 5)} more` : names.join(', '))

/** The flags that an application evaluated. */
export function FlagsOfApp({ flags }: { flags: readonly Schema<'SeenFeature'>[] }) {
  const [offset, setOffset] = useState(0)
  return (
    <Section title="Flags">
      <Table
        cards
        label="Flags"
        columns={flagColumns}
        rows={flags.slice(offset, offset + pageSize)}
        rowKey={(flag) => flag.name}
        empty={
          <EmptyState icon={<Icons.Flag />} title="No flags yet">
            SDKs report which flags they evaluated, every minute or at the interval that you set.
          </EmptyState>
        }
      />
      <Pagination noun="flags" offset={offset} limit={pageSize} total={flags.length} onChange={setOffset} />
    </Section>
  )
}

const flagColumns: Column<Schema<'SeenFeature'>>[] = [
  {
    id: 'name',
    header: 'Flag',
    cell: (flag) =>
      flag.project && !flag.archived ? (
        <Link to="/projects/$projectId/flags/$flag/usage" params={{ projectId: flag.project, flag: flag.name }} className="strong break">
          {flag.name}
        </Link>
      ) : (
        <span className="break">{flag.name}</span>
      ),
  },
  {
    id: 'state',
    header: 'State',
    cell: (flag) =>
      flag.notFound ? (
        <Badge kind="warn">Unknown</Badge>
      ) : flag.archived ? (
        <Badge kind="warn">Archived</Badge>
      ) : flag.stale ? (
        <Badge kind="warn">Stale</Badge>
      ) : (
        <Badge kind="ok">Active</Badge>
      ),
  },
  { id: 'project', header: 'Project', cell: (flag) => (flag.project ? <ProjectName id={flag.project} /> : <span className="soft">None</span>) },
  {
    id: 'seen',
    header: 'Last used by any application',
    cell: (flag) => (flag.notFound ? <span className="soft">Unknown</span> : <DateTime value={flag.lastSeenAt} noted={usesNoted} />),
  },
]

/** The instances of an application that reported in the last two days. */
export function InstancesOfApp({ instances }: { instances: readonly Schema<'InstanceOfApp'>[] }) {
  const [offset, setOffset] = useState(0)
  return (
    <Section title="Instances" description="Those that reported in the last two days.">
      <Table
        cards
        label="Instances"
        columns={instanceColumns}
        rows={instances.slice(offset, offset + pageSize)}
        rowKey={(one) => `${one.environment} ${one.instanceId} ${one.clientIp}`}
        empty={<p className="soft">None.</p>}
      />
      <Pagination noun="instances" offset={offset} limit={pageSize} total={instances.length} onChange={setOffset} />
    </Section>
  )
}

const instanceColumns: Column<Schema<'InstanceOfApp'>>[] = [
  { id: 'id', header: 'Instance', cell: (one) => <span className="break">{one.instanceId || <span className="soft">Without a name</span>}</span> },
  { id: 'environment', header: 'Environment', cell: (one) => <EnvironmentName name={one.environment} /> },
  { id: 'sdk', header: 'SDK', cell: (one) => <span className="break">{one.sdkVersion ?? 'Unknown'}</span> },
  { id: 'ip', header: 'IP address', cell: (one) => one.clientIp ?? 'Unknown' },
  { id: 'seen', header: 'Last report', cell: (one) => <DateTime value={one.lastSeen} noted={reportsNoted} /> },
]
