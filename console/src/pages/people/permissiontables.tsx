import type { ReactNode } from 'react'
import type { Schema } from '../../api'
import { Checkbox, Icons } from '../../ui'
import { holds, isProjectRole, thingsOf, toggled, verbs, type Grant } from './grants'
import './people.css'

interface PermissionTablesProps {
  groups: Schema<'PermissionGroups'>
  /** The type of the role: a role in projects has no permissions in the whole service. */
  type: string
  value: readonly Grant[]
  /** Without it, the tables show what the role has. */
  onChange?: (grants: Grant[]) => void
}

/** The permissions of a role: in the whole service, in projects, and in each environment. */
export function PermissionTables({ groups, type, value, onChange }: PermissionTablesProps) {
  const inProject = isProjectRole(type)
  const everything = holds(value, { name: 'ADMIN', environment: '' })
  if (!onChange && (everything || value.length === 0))
    return <p>{everything ? 'Everything, in all projects and environments.' : 'Reads, and changes nothing.'}</p>
  const mark = (label: string, grant: Grant, included = false) => {
    const on = everything || included || holds(value, grant)
    return onChange ? (
      <input
        type="checkbox"
        aria-label={label}
        title={label}
        checked={on}
        disabled={everything || included}
        onChange={(event) => onChange(toggled(value, grant, event.target.checked))}
      />
    ) : on ? (
      <span className="people-tick" role="img" aria-label={label} title={label}>
        <Icons.Check />
      </span>
    ) : (
      <span className="soft">–</span>
    )
  }
  const hasNone = (permissions: readonly Schema<'Permission'>[]) => !onChange && !permissions.some(({ name }) => value.some((grant) => grant.name === name))
  const ofThings = (title: string, permissions: readonly Schema<'Permission'>[]) =>
    !hasNone(permissions) && (
      <Matrix title={title} columns={verbs}>
        {thingsOf(permissions).map(({ thing, of, only }) => (
          <tr key={thing}>
            <th scope="row">{thing}</th>
            {only
              ? verbs.map((verb) => <td key={verb}>{verb === 'Change' && mark(only.displayName, { name: only.name, environment: '' })}</td>)
              : verbs.map((verb) => (
                  <td key={verb}>
                    {of[verb]
                      ? mark(of[verb].displayName, { name: of[verb].name, environment: '' })
                      : verb === 'Read' && <span className="soft">Everyone</span>}
                  </td>
                ))}
          </tr>
        ))}
      </Matrix>
    )
  const inEach = groups.environments[0]?.permissions ?? []
  const environments = groups.environments.map(({ name }) => name)
  return (
    <div className="stack">
      {!inProject && onChange && (
        <Checkbox label="Everything" checked={everything} onChange={(on) => onChange(toggled(value, { name: 'ADMIN', environment: '' }, on))} />
      )}
      {!inProject &&
        ofThings(
          'In the whole service',
          groups.root.filter(({ name }) => name !== 'ADMIN'),
        )}
      {ofThings(inProject ? 'In the project' : 'In all projects', groups.project)}
      {!hasNone(inEach) && (
        <Matrix title="In environments" columns={['All', ...environments]}>
          {inEach.map(({ name, displayName }) => (
            <tr key={name}>
              <th scope="row">{displayName}</th>
              {['', ...environments].map((environment) => (
                <td key={environment}>
                  {mark(
                    `${displayName} in ${environment || 'all environments'}`,
                    { name, environment },
                    environment !== '' && holds(value, { name, environment: '' }),
                  )}
                </td>
              ))}
            </tr>
          ))}
        </Matrix>
      )}
    </div>
  )
}

function Matrix({ title, columns, children }: { title: string; columns: readonly string[]; children: ReactNode }) {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label={`Permissions: ${title}`}>
      <table className="table people-matrix" aria-label={`Permissions: ${title}`}>
        <thead>
          <tr>
            <th scope="col">{title}</th>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}
