import { useState } from 'react'
import { Cancel } from '../forms'
import { Button } from '../ui/button'
import { Dialog } from '../ui/dialog'
import { TextField } from '../ui/field'
import { Icons } from '../ui/icons'
import { maxViewName, viewProblem, withView, type SavedView, type ViewState } from './views'

interface ViewsDialogProps {
  views: SavedView[]
  state: ViewState
  onChange: (views: SavedView[]) => void
  onClose: () => void
}

/** Saves the shown filters under a name, and deletes saved views. */
export default function ViewsDialog({ views, state, onChange, onClose }: ViewsDialogProps) {
  const [name, setName] = useState('')
  const [problem, setProblem] = useState('')
  const save = () => {
    const view = { name: name.trim(), state }
    const found = viewProblem(views, view)
    setProblem(found)
    if (found) return
    onChange(withView(views, view))
    onClose()
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title="Saved views"
      description={`Views are kept in this browser, for you at ${window.location.host}. To share one, open it and send the URL of the page.`}
    >
      <form
        className="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          event.stopPropagation()
          save()
        }}
      >
        <TextField
          label="Name of the shown filters"
          hint="A view of the same name is replaced."
          maxLength={maxViewName}
          value={name}
          onChange={(next) => {
            setName(next)
            setProblem('')
          }}
          error={problem || undefined}
        />
        <div className="dialog-actions">
          <Cancel onCancel={onClose} dirty={name.trim() !== ''}>
            Close
          </Cancel>
          <Button type="submit" variant="primary">
            Save view
          </Button>
        </div>
      </form>
      {views.length > 0 && (
        <ul className="stack-s" aria-label="Saved views">
          {views.map((view) => (
            <li key={view.name} className="row-apart">
              <span className="break grow">{view.name}</span>
              <Button
                size="small"
                variant="quiet"
                icon={<Icons.Trash />}
                aria-label={`Delete view ${view.name}`}
                onClick={() => onChange(views.filter((one) => one.name !== view.name))}
              >
                Delete
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  )
}
