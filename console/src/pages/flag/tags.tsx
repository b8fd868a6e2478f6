import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, apiQuery, type Schema, useChange } from '../../api'
import { FormDialog, useForm } from '../../forms'
import { IconButton, Icons, Select, Tag } from '../../ui'
import { SuggestField } from '../../ui/suggest'
import { flagKey, touched, useReasons, type Flag } from './data'
import { Part } from './part'

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
  return (
    <Part title="Tags" action={<IconButton size="small" label="Add tag" icon={<Icons.Plus />} disabledReason={reason} onClick={() => setAdding(true)} />}>
      {flag.tags.length > 0 && (
        <p className="row">
          {flag.tags.map((tag) => (
            <Tag key={`${tag.type}:${tag.value}`} type={tag.type} value={tag.value} onRemove={reason ? undefined : () => remove.mutate(tag)} />
          ))}
        </p>
      )}
      {adding && <AddTagDialog flag={flag} add={(tag) => send([tag], [])} onClose={() => setAdding(false)} />}
    </Part>
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
    <FormDialog form={form} submit="Add tag" onClose={onClose} title="Add a tag" description="Tags group flags across projects. You can filter lists by them.">
      <Select label="Type" choices={choices} {...form.field('type')} />
      <SuggestField
        label="Value"
        required
        maxLength={50}
        suggestions={values.map(({ value }) => ({ value }))}
        {...form.field('value')}
        hint="2 to 50 characters."
      />
    </FormDialog>
  )
}
