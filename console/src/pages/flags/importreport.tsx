import { Link } from '@tanstack/react-router'
import type { Schema } from '../../api'
import { permissionText } from '../../api/permissions'
import { Badge, Figure, Notice, Table, number, plural, type Column } from '../../ui'

/** What the check of an import found: errors, missing permissions and warnings, each with the items that it is about. */
export function ImportReportView({ report }: { report: Schema<'ImportReport'> }) {
  const { errors, permissions, warnings } = report
  const nothing = errors.length + permissions.length + warnings.length === 0
  return (
    <div className="stack" role="status" aria-label="Result of the check">
      {nothing && <Notice kind="ok" title="The check found no problem" />}
      <Findings kind="danger" title="Errors: the affected flags will be skipped" findings={errors} />
      <Findings
        kind="danger"
        title="Missing permissions: ask an administrator for them"
        findings={permissions.map((one) => ({ ...one, affectedItems: one.affectedItems.map(permissionText) }))}
      />
      <Findings kind="warn" title="Warnings" findings={warnings} />
    </div>
  )
}

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
  const columns: Column<Row>[] = [
    {
      id: 'name',
      header: 'Item',
      width: '34%',
      cell: (row) =>
        row.kind === 'flag' && row.outcome !== 'skipped' ? (
          <Link to="/projects/$projectId/flags/$flag" params={{ projectId: project, flag: row.name }} className="plain-link strong">
            {row.name}
          </Link>
        ) : (
          <>
            <span className="strong">{row.name}</span> {row.kind !== 'flag' && <span className="soft">({row.kind})</span>}
          </>
        ),
    },
    { id: 'outcome', header: 'Outcome', width: '110px', cell: (row) => <Badge kind={kinds[row.outcome]}>{row.outcome}</Badge> },
    { id: 'reasons', header: 'Reason', cell: (row) => <span className="flags-reason">{row.reasons.map(inWords).join('; ')}</span> },
  ]
  const left = [...result.features, ...result.others].filter(({ outcome }) => outcome === 'skipped' || outcome === 'kept')
  const nothing = result.features.length > 0 && result.skipped === result.features.length
  const rows = [...result.features, ...result.others].sort((a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome))
  return (
    <div className="stack" role="status" aria-label="Result of the import">
      {left.length > 0 && (
        <Notice kind="danger" title={nothing ? 'No flag was imported' : 'Not everything was imported'}>
          {plural(left.length, 'item')} in the file {left.length === 1 ? 'was' : 'were'} left out. The table says why.
        </Notice>
      )}
      <Findings kind="warn" title="What the import skipped" findings={result.warnings} />
      <div className="flags-figures">
        <Figure label="Created" value={number(result.created)} />
        <Figure label="Overwritten" value={number(result.overwritten)} />
        <Figure label="Unchanged" value={number(result.unchanged)} />
        <Figure label="Skipped" value={number(result.skipped)} />
      </div>
      <Table label="Imported items" virtual={rows.length > 100} columns={columns} rows={rows} rowKey={(row) => `${row.kind} ${row.name}`} />
    </div>
  )
}
