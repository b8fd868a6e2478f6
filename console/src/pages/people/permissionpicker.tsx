import type { Schema } from '../../api'
import { Checkbox } from '../../ui'
import { holds, isProjectRole, toggled, type Grant } from './grants'
import './people.css'

interface PermissionPickerProps {
  groups: Schema<'PermissionGroups'>
  /** The type of the role: a role in projects has no permissions in the whole service. */
  type: string
  value: readonly Grant[]
  onChange: (grants: Grant[]) => void
}

/** What a role allows, in words. */
export function PermissionWords({ groups, type, value }: Omit<PermissionPickerProps, 'onChange'>) {
  if (holds(value, { name: 'ADMIN', environment: '' })) return <p>Everything, in all projects and environments.</p>
  const named = (permissions: readonly Schema<'Permission'>[], environment = '') =>
    permissions.filter(({ name }) => holds(value, { name, environment })).map(({ name, displayName }) => ({ name, displayName }))
  const inEach = groups.environments[0]?.permissions ?? []
  const parts = [
    ...(isProjectRole(type) ? [] : [{ title: 'In the whole service', permissions: named(groups.root) }]),
    { title: isProjectRole(type) ? 'In the project' : 'In all projects', permissions: named(groups.project) },
    { title: 'In all environments', permissions: named(inEach) },
    ...groups.environments.map(({ name, permissions }) => ({
      title: `In ${name}`,
      permissions: named(permissions, name).filter((one) => !holds(value, { name: one.name, environment: '' })),
    })),
  ].filter(({ permissions }) => permissions.length > 0)
  if (parts.length === 0) return <p>Can read, and change nothing.</p>
  return (
    <div className="stack">
      {parts.map(({ title, permissions }) => (
        <section key={title} className="stack-s">
          <h3>{title}</h3>
          <ul className="people-permissions">
            {permissions.map(({ name, displayName }) => (
              <li key={name} title={name}>
                {displayName}
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}

/** The permissions of a role: in the whole service, in projects, and in each environment. */
export function PermissionPicker({ groups, type, value, onChange }: PermissionPickerProps) {
  const everything = holds(value, { name: 'ADMIN', environment: '' })
  const names = new Map(groups.environments.flatMap(({ permissions }) => permissions.map((permission) => [permission.name, permission.displayName] as const)))
  const list = (permissions: readonly Schema<'Permission'>[]) =>
    permissions.map(({ name, displayName }) => {
      const grant = { name, environment: '' }
      const included = everything && name !== 'ADMIN'
      return (
        <Checkbox
          key={name}
          label={<span title={name}>{displayName}</span>}
          checked={included || holds(value, grant)}
          disabledReason={included ? 'Included in “Everything”.' : undefined}
          onChange={(on) => onChange(toggled(value, grant, on))}
        />
      )
    })
  return (
    <div className="stack">
      {!isProjectRole(type) && (
        <fieldset className="people-permissions">
          <legend className="field-label">In the whole service</legend>
          {list(groups.root)}
        </fieldset>
      )}
      <fieldset className="people-permissions">
        <legend className="field-label">{isProjectRole(type) ? 'In the project' : 'In all projects'}</legend>
        {list(groups.project)}
      </fieldset>
      <fieldset className="people-environments">
        <legend className="field-label">In environments</legend>
        <div className="table-box" tabIndex={0} role="region" aria-label="Permissions in environments">
          <table className="table" aria-label="Permissions in environments">
            <thead>
              <tr>
                <th scope="col">Permission</th>
                <th scope="col">All</th>
                {groups.environments.map(({ name }) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {[...names].map(([name, displayName]) => {
                const inAll = everything || holds(value, { name, environment: '' })
                return (
                  <tr key={name}>
                    <th scope="row">{displayName}</th>
                    {['', ...groups.environments.map((environment) => environment.name)].map((environment) => (
                      <td key={environment}>
                        <input
                          type="checkbox"
                          aria-label={`${displayName} in ${environment || 'all environments'}`}
                          checked={inAll || holds(value, { name, environment })}
                          disabled={everything || (environment !== '' && inAll)}
                          onChange={(event) => onChange(toggled(value, { name, environment }, event.target.checked))}
                        />
                      </td>
                    ))}
                  </tr>
                )
              })}
            </tbody>
          </table>
        </div>
      </fieldset>
    </div>
  )
}
