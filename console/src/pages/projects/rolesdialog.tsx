import { useState } from 'react'
import { accountName, type Schema } from '../../api'
import { Cancel } from '../../forms'
import { Button, Checkbox, Dialog } from '../../ui'

interface RolesDialogProps {
  member: Schema<'Member'>
  roles: Schema<'Role'>[]
  onClose: () => void
  onSave: (roles: number[]) => void
}

/** Chooses the roles of a member. Mount it only while it is open. */
export function RolesDialog({ member, roles, onClose, onSave }: RolesDialogProps) {
  const [chosen, setChosen] = useState<number[]>(member.roles)
  const save = () => {
    onClose()
    onSave(chosen)
  }
  const unchanged = chosen.length === member.roles.length && chosen.every((id) => member.roles.includes(id))
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Roles of ${accountName(member)}`}
      description="A member can do what any of these roles allows."
      actions={
        <>
          <Cancel onCancel={onClose} dirty={!unchanged} />
          <Button
            variant="primary"
            disabledReason={
              chosen.length === 0 ? 'Choose at least one role, or remove the member from the project.' : unchanged ? 'These are the current roles.' : undefined
            }
            onClick={save}
          >
            Save roles
          </Button>
        </>
      }
    >
      <div className="stack-s">
        {roles.map((role) => (
          <Checkbox
            key={role.id}
            label={role.name}
            hint={role.description}
            checked={chosen.includes(role.id)}
            onChange={(on) => setChosen((old) => (on ? [...old, role.id] : old.filter((id) => id !== role.id)))}
          />
        ))}
      </div>
    </Dialog>
  )
}
