import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, apiQuery, useChange, type Schema } from '../../api'
import { FormActions, useForm } from '../../forms'
import { Badge, Button, Dialog, Icons, Select, Tag, TextField, words } from '../../ui'
import { flagKey, touched, useReasons, type Flag } from './data'
import { lifecycleText } from './lifecycle'

/** Type, lifecycle and whether the flag is stale. */
export function FlagBadges({ flag }: { flag: Flag }) {
  const stage = lifecycleText(flag.lifecycle, flag.environments)
  return (
    <>
      <Badge>{words(flag.type)}</Badge>
      <span title={stage.hint}>
        <Badge kind={stage.kind}>{stage.label}</Badge>
      </span>
      {flag.stale && (
        <span title="The flag has served its purpose and should be removed from the code.">
          <Badge kind="warn">Stale</Badge>
        </span>
      )}
    </>
  )
}

type TagValue = Schema<'Tag'>

/** The tags of a flag, with buttons to add and remove them. */
export function FlagTags({ flag }: { flag: Flag }) {
  const [adding, setAdding] = useState(false)
  const reason = useReasons(flag)('UPDATE_FEATURE')
  const send = (addedTags: TagValue[], removedTags: TagValue[]) =>
    api.put('/api/admin/features/{featureName}/tags', { path: { featureName: flag.name }, body: { addedTags, removedTags } })
  const remove = useChange({
    change: (tag: TagValue) => send([], [tag]),
    invalidates: [...touched, '/api/admin/tags'],
    optimistic: (tag) => [
      { key: flagKey(flag), update: (old?: Flag) => old && { ...old, tags: old.tags.filter((one) => one.type !== tag.type || one.value !== tag.value) } },
    ],
    success: 'Tag removed',
    undo: (tag) => send([tag], []),
  })
  if (flag.tags.length === 0 && reason) return null
  return (
    <span className="row flag-tags">
      {flag.tags.map((tag) => (
        <Tag key={`${tag.type}:${tag.value}`} type={tag.type} value={tag.value} onRemove={reason ? undefined : () => remove.mutate(tag)} />
      ))}
      {!reason && (
        <Button size="small" variant="quiet" icon={<Icons.Plus />} onClick={() => setAdding(true)}>
          Add tag
        </Button>
      )}
      {adding && <AddTagDialog flag={flag} add={(tag) => send([tag], [])} onClose={() => setAdding(false)} />}
    </span>
  )
}

function AddTagDialog({ flag, add, onClose }: { flag: Flag; add: (tag: TagValue) => Promise<unknown>; onClose: () => void }) {
  const types = useQuery(apiQuery('/api/admin/tag-types'))
  const known = useQuery(apiQuery('/api/admin/tags'))
  const save = useChange({ change: add, invalidates: [...touched, '/api/admin/tags'], success: 'Tag added', showsErrors: true, onSuccess: onClose })
  const form = useForm({
    initial: { type: 'simple', value: '' },
    submit: (values) => save.mutateAsync({ ...values, value: values.value.trim() }),
    check: (values) => ({
      value: flag.tags.some((tag) => tag.type === values.type && tag.value === values.value.trim()) ? 'The flag has this tag already.' : '',
    }),
    pointers: { type: '/addedTags/0/type', value: '/addedTags/0/value' },
  })
  const choices = (types.data?.tagTypes ?? [{ name: 'simple' }]).map((type) => ({ value: type.name, label: type.name }))
  const values = (known.data?.tags ?? []).filter((tag) => tag.type === form.values.type).slice(0, 200)
  return (
    <Dialog open onClose={onClose} title="Add a tag" description="Tags group flags across projects. You can filter lists by them.">
      <form {...form.props}>
        <Select label="Type" choices={choices} {...form.field('type')} />
        <TextField label="Value" required maxLength={50} list="flag-tag-values" {...form.field('value')} hint="2 to 50 characters." />
        <datalist id="flag-tag-values">
          {values.map((tag) => (
            <option key={tag.value} value={tag.value} />
          ))}
        </datalist>
        <FormActions form={form} submit="Add tag" onCancel={onClose} />
      </form>
    </Dialog>
  )
}

/** Links of the project's templates, such as the search of an issue tracker. */
export function FlagLinks({ flag, templates }: { flag: Flag; templates: Schema<'LinkTemplate'>[] }) {
  const links = templates.map((template) => ({ title: template.title, url: fillLink(template.urlTemplate, flag) })).filter((link) => link.url)
  if (links.length === 0) return null
  return (
    <span className="row">
      {links.map((link) => (
        <a key={link.url} href={link.url} target="_blank" rel="noreferrer" className="row flag-link">
          {link.title ?? link.url}
          <Icons.External />
        </a>
      ))}
    </span>
  )
}

/** The address of a link template for a flag; undefined unless it is an address of the web. */
function fillLink(template: string, flag: Flag): string | undefined {
  const url = template.replaceAll('{{project}}', encodeURIComponent(flag.project)).replaceAll('{{feature}}', encodeURIComponent(flag.name))
  return /^https?:\/\//i.test(url) ? url : undefined
}
