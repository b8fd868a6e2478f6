import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { apiQuery, useMe, type Schema } from '../../api'
import { Cancel } from '../../forms'
import { SkipsFreezes } from '../../requests/freeze'
import { Button, Checkbox, Dialog, DialogActions, Loaded, plural } from '../../ui'
import { Combobox } from '../../ui/combobox'
import { OnInProduction } from './archivedialog'
import { projectsOf } from './data'
import { countTags, parseTag, tagText, type FlagRow } from './rows'
import { TagPicker } from './tagpicker'

const shownTags = 100

interface TagsDialogProps {
  flags: readonly FlagRow[]
  onClose: () => void
  onSubmit: (added: Schema<'Tag'>[], removed: Schema<'Tag'>[]) => void
}

/** Asks which tags to add to the selected flags, and which of theirs to remove. */
export function TagsDialog({ flags, onClose, onSubmit }: TagsDialogProps) {
  const [added, setAdded] = useState<Schema<'Tag'>[]>([])
  const [removed, setRemoved] = useState<readonly string[]>([])
  const present = countTags(flags, shownTags).filter(({ tag }) => !added.some((one) => tagText(one) === tag))
  const removedTags = present.filter(({ tag }) => removed.includes(tag)).flatMap(({ tag }) => parseTag(tag) ?? [])
  const nothing = added.length + removedTags.length === 0
  return (
    <Dialog open onClose={onClose} title={`Change the tags of ${plural(flags.length, 'flag')}`}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (!nothing) onSubmit(added, removedTags)
        }}
      >
        <TagPicker label="Tags to add" tags={added} onChange={setAdded} />
        {present.length > 0 && (
          <fieldset className="field">
            <legend className="field-label">Tags to remove</legend>
            {present.map(({ tag, count }) => (
              <Checkbox
                key={tag}
                label={
                  <>
                    {tag} <span className="soft">({plural(count, 'flag')})</span>
                  </>
                }
                checked={removed.includes(tag)}
                onChange={(on) => setRemoved(on ? [...removed, tag] : removed.filter((one) => one !== tag))}
              />
            ))}
          </fieldset>
        )}
        <DialogActions>
          <Cancel onCancel={onClose} dirty={!nothing} />
          <Button type="submit" variant="primary" disabledReason={nothing ? 'Choose a tag to add or to remove.' : undefined}>
            Change tags
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

interface MoveDialogProps {
  flags: readonly FlagRow[]
  onClose: () => void
  onSubmit: (target: string) => void
}

/** Asks for the project to move flags to. */
export function MoveDialog({ flags, onClose, onSubmit }: MoveDialogProps) {
  const from = projectsOf(flags)
  const projects = useQuery(apiQuery('/api/admin/projects'))
  const { can } = useMe()
  const [target, setTarget] = useState('')
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Move ${plural(flags.length, 'flag')}`}
      description="The other project must have every environment in which a flag is on. Applications that read only this project no longer get the flags."
    >
      <Loaded query={projects} lines={2}>
        {({ projects: all }) => (
          <form
            className="stack"
            onSubmit={(event) => {
              event.preventDefault()
              if (target) onSubmit(target)
            }}
          >
            <Combobox
              label="Project"
              placeholder="Choose a project"
              value={target}
              onChange={setTarget}
              choices={all
                .filter(({ id }) => from.length > 1 || id !== from[0])
                .map(({ id, name }) => ({ value: id, label: name === id ? name : `${name} (${id})`, disabled: !can('CREATE_FEATURE', id).allowed }))}
            />
            <OnInProduction flags={flags} />
            {[...new Set([...from, target])].filter(Boolean).map((project) => (
              <SkipsFreezes key={project} named project={project} flags={flags} />
            ))}
            <DialogActions>
              <Cancel onCancel={onClose} dirty={target !== ''} />
              <Button type="submit" variant="primary" disabledReason={target ? undefined : 'Choose a project first.'}>
                Move
              </Button>
            </DialogActions>
          </form>
        )}
      </Loaded>
    </Dialog>
  )
}
