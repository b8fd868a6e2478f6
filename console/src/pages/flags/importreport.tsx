import { Link } from '@tanstack/react-router'
import type { Schema } from '../../api'
import { permissionText } from '../../api/permissions'
import { Badge, Figure, Notice, Table, number, plural, type Column } from '../../ui'

/** What the check of an import found: problems, each with the items that it is about, and what each flag gets. */
export function ImportReportView({ report, project }: { report: Schema<'ImportReport'>; project: string }) {
  const { errors, permissions, warnings, features } = report
  return (
    <div className="stack" role="status" aria-label="Result of the check">
      <Findings kind="danger" title="Errors: the affected flags will be skipped" findings={errors} />
      <Findings
        kind="danger"
        title="Missing permissions: ask an administrator for them"
        findings={permissions.map((one) => ({ ...one, affectedItems: one.affectedItems.map(permissionText) }))}
      />
      {/* The table says which flags are overwritten. */}
      <Findings kind="warn" title="Warnings" findings={warnings.filter(({ message }) => !message.endsWith('and will be overwritten'))} />
      <Flags
        label="What the import changes"
        names={{ created: 'New', overwritten: 'Changed', unchanged: 'The same' }}
        counts={{ created: countOf(features, 'created'), overwritten: countOf(features, 'overwritten'), unchanged: countOf(features, 'unchanged') }}
        rows={features}
        project={project}
      />
    </div>
  )
}

/** How many flags have an outcome. */
export const countOf = (rows: readonly Row[], outcome: string) => rows.filter((row) => row.outcome === outcome).length

const shownItems = 100

function Findings({ kind, title, findings }: { kind: 'danger' | 'warn'; title: string; findings: Schema<'ImportFinding'>[] }) {
  if (findings.length === 0) return null
  return (
    <Notice kind={kind} title={title}>
      <ul className="flags-findings">
        {findings.map(({ message, affectedItems }) => (
          <li key={message}>
            {message}
            {affectedItems.length > 0 && ': '}
            {affectedItems.slice(0, shownItems).map((item, index) => (
              <span key={item}>
                {index > 0 && ', '}
                <span className="strong">{item}</span>
              </span>
            ))}
            {affectedItems.length > shownItems && ` and ${number(affectedItems.length - shownItems)} more`}
          </li>
        ))}
      </ul>
    </Notice>
  )
}

type Row = Schema<'ImportedRow'>

const kinds: Record<string, 'ok' | 'accent' | 'neutral' | 'danger' | 'warn'> = {
  created: 'ok',
  overwritten: 'accent',
  unchanged: 'neutral',
  kept: 'warn',
  skipped: 'danger',
}
const order = ['skipped', 'kept', 'overwritten', 'created', 'unchanged']

// The text of a reason, with permissions in words.
const inWords = (reason: string) => reason.replace(/\b[A-Z]+(?:_[A-Z]+)+\b/g, permissionText)

/** What an import did: the numbers, and every item, those with problems first. */
export function ImportResult({ result, project }: { result: Schema<'Imported'>; project: string }) {
  const { created, overwritten, unchanged, skipped } = result
  const rows = [...result.features, ...result.others]
  const left = rows.filter(({ outcome }) => outcome === 'skipped' || outcome === 'kept')
  const nothing = result.features.length > 0 && skipped === result.features.length
  return (
    <div className="stack" role="status" aria-label="Result of the import">
      {left.length > 0 && (
        <Notice kind="danger" title={nothing ? 'No flag was imported' : 'Not everything was imported'}>
          {plural(left.length, 'item')} in the file {left.length === 1 ? 'was' : 'were'} left out. The table says why.
        </Notice>
      )}
      <Findings kind="warn" title="What the import skipped" findings={result.warnings} />
      <Flags
        label="Imported items"
        names={{ created: 'Created', overwritten: 'Changed', unchanged: 'The same', skipped: 'Skipped', kept: 'Kept' }}
        counts={{ created, overwritten, unchanged, skipped }}
        rows={rows}
        project={project}
      />
    </div>
  )
}

interface FlagsProps {
  label: string
  /** The names of outcomes. */
  names: Record<string, string>
  counts: Record<string, number>
  rows: readonly Row[]
  project: string
}

const parts: Record<string, string> = {
  enabled: 'on or off',
  impressionData: 'impression data',
  valueType: 'value type',
  defaultValue: 'default value',
  valueSchema: 'schema of values',
}

// The numbers, and the items that are not as before.
function Flags({ label, names, counts, rows, project }: FlagsProps) {
  const exists = ({ kind, outcome }: Row) => kind === 'flag' && outcome !== 'skipped' && (names.created === 'Created' || outcome !== 'created')
  const columns: Column<Row>[] = [
    {
      id: 'name',
      header: 'Item',
      width: '34%',
      cell: (row) =>
        exists(row) ? (
          <Link to="/projects/$projectId/flags/$flag" params={{ projectId: project, flag: row.name }} className="plain-link strong">
            {row.name}
          </Link>
        ) : (
          <>
            <span className="strong">{row.name}</span> {row.kind !== 'flag' && <span className="soft">({row.kind})</span>}
          </>
        ),
    },
    { id: 'outcome', header: 'Outcome', width: '110px', cell: (row) => <Badge kind={kinds[row.outcome]}>{names[row.outcome] ?? row.outcome}</Badge> },
    {
      id: 'reasons',
      header: 'What changes',
      cell: (row) => <span className="flags-reason">{row.reasons.map(inWords).join('; ') || row.changes.map((name) => parts[name] ?? name).join(', ')}</span>,
    },
  ]
  const shown = rows.filter(({ outcome }) => outcome !== 'unchanged').sort((a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome))
  return (
    <>
      <div className="flags-figures">
        {Object.entries(counts).map(([outcome, count]) => (
          <Figure key={outcome} label={names[outcome]!} value={number(count)} />
        ))}
      </div>
      {shown.length > 0 && <Table label={label} virtual={shown.length > 100} columns={columns} rows={shown} rowKey={(row) => `${row.kind} ${row.name}`} />}
    </>
  )
}
