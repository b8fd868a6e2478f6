import { useState } from 'react'
import { useMe } from '../../api'
import { Checkbox, IconButton, Icons } from '../../ui'
import { eventLabel, groupEvents, reservedGroups, type EventGroup } from './eventgroups'

interface EventPickerProps {
  /** The types that the provider can send. */
  types: readonly string[]
  value: readonly string[]
  onChange: (value: string[]) => void
  error?: string
}

/** Chooses types of events, by group or one by one. */
export function EventPicker({ types, value, onChange, error }: EventPickerProps) {
  const me = useMe()
  const groups = groupEvents([...types, ...value])
  const set = (changed: readonly string[], chosen: boolean) =>
    onChange(chosen ? [...new Set([...value, ...changed])] : value.filter((type) => !changed.includes(type)))
  return (
    <fieldset className="stack-s" aria-describedby={error ? 'events-error' : undefined}>
      <legend className="field-label">
        Events <span className="soft">({value.length} chosen)</span>
      </legend>
      {error && (
        <p id="events-error" className="field-error">
          {error}
        </p>
      )}
      <div className="event-groups">
        {groups.map((group) => (
          <Group
            key={group.label}
            group={group}
            value={value}
            onChange={set}
            disabledReason={reservedGroups.includes(group.label) && !me.isAdmin ? 'Only administrators can send these.' : undefined}
          />
        ))}
      </div>
    </fieldset>
  )
}

interface GroupProps {
  group: EventGroup
  value: readonly string[]
  onChange: (types: readonly string[], chosen: boolean) => void
  disabledReason?: string
}

function Group({ group, value, onChange, disabledReason }: GroupProps) {
  const [open, setOpen] = useState(false)
  const chosen = group.types.filter((type) => value.includes(type)).length
  return (
    <div className="event-group">
      <div className="row-apart">
        <Checkbox
          label={
            <>
              {group.label}{' '}
              <span className="soft small number">
                {chosen} of {group.types.length}
              </span>
            </>
          }
          checked={chosen === group.types.length}
          indeterminate={chosen > 0 && chosen < group.types.length}
          onChange={(all) => onChange(group.types, all)}
          disabledReason={disabledReason}
        />
        <IconButton
          size="small"
          label={`Events of ${group.label}`}
          icon={open ? <Icons.Up /> : <Icons.Chevron />}
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        />
      </div>
      {open && (
        <div className="event-types">
          {group.types.map((type) => (
            <Checkbox
              key={type}
              label={eventLabel(type)}
              checked={value.includes(type)}
              onChange={(one) => onChange([type], one)}
              disabledReason={disabledReason && ' '}
            />
          ))}
        </div>
      )}
    </div>
  )
}
