import { useState } from 'react'
import { api, type Schema, useChange } from '../../api'
import { FormDialog, useForm } from '../../forms'
import { ActionMenu, IconButton, Icons, TextField } from '../../ui'
import { flagKey, flagPath, touched, useProject, useReasons, type Flag } from './data'
import { Part } from './part'

type LinkRow = Schema<'Link'>

const linkPath = `${flagPath}/link/{linkId}` as const

/** The links of a flag, such as its ticket, and those of the project's templates. */
export function FlagLinks({ flag }: { flag: Flag }) {
  const [editing, setEditing] = useState<LinkRow | 'new'>()
  const templates = useProject(flag.project)?.linkTemplates ?? []
  const reason = useReasons(flag)('UPDATE_FEATURE')
  const path = { projectId: flag.project, featureName: flag.name }
  const remove = useChange({
    change: ({ id }: LinkRow) => api.delete(linkPath, { path: { ...path, linkId: id } }),
    invalidates: touched,
    optimistic: ({ id }) => [{ key: flagKey(flag), update: (old?: Flag) => old && { ...old, links: old.links.filter((one) => one.id !== id) } }],
    success: 'Link removed',
    undo: ({ url, title }) => api.post(`${flagPath}/link`, { path, body: { url, title } }),
  })
  const fromTemplates = templates.flatMap(({ title, urlTemplate }) => {
    const url = fillLink(urlTemplate, flag)
    return url ? [{ title, url }] : []
  })
  return (
    <Part title="Links" action={<IconButton size="small" label="Add link" icon={<Icons.Plus />} disabledReason={reason} onClick={() => setEditing('new')} />}>
      {flag.links.map((link) => (
        <div key={link.id} className="rail-head">
          <External link={link} />
          {!reason && (
            <ActionMenu
              label={`Actions for the link ${link.title ?? link.url}`}
              entries={[
                { label: 'Edit', icon: <Icons.Edit />, onSelect: () => setEditing(link) },
                { label: 'Remove', icon: <Icons.Trash />, danger: true, onSelect: () => remove.mutate(link) },
              ]}
            />
          )}
        </div>
      ))}
      {fromTemplates.map((link) => (
        <p key={link.url}>
          <External link={link} />
        </p>
      ))}
      {editing && <LinkDialog flag={flag} link={editing === 'new' ? undefined : editing} onClose={() => setEditing(undefined)} />}
    </Part>
  )
}

function External({ link }: { link: { url: string; title: string | null } }) {
  return (
    <a href={link.url} target="_blank" rel="noreferrer" className="break">
      {link.title || link.url.replace(/^https?:\/\//, '')}
    </a>
  )
}

function LinkDialog({ flag, link, onClose }: { flag: Flag; link?: LinkRow; onClose: () => void }) {
  const path = { projectId: flag.project, featureName: flag.name }
  const save = useChange({
    change: (body: Schema<'LinkRequest'>) =>
      link ? api.put(linkPath, { path: { ...path, linkId: link.id }, body }) : api.post(`${flagPath}/link`, { path, body }),
    invalidates: touched,
    success: link ? 'Link saved' : 'Link added',
    showsErrors: true,
    onSuccess: onClose,
  })
  const form = useForm({
    initial: { url: link?.url ?? '', title: link?.title ?? '' },
    submit: ({ url, title }) => save.mutateAsync({ url: url.trim(), title: title.trim() || null }),
  })
  return (
    <FormDialog form={form} submit={link ? 'Save link' : 'Add link'} onClose={onClose} title={link ? 'Edit the link' : 'Add a link'}>
      <TextField label="URL" required maxLength={2000} placeholder="https://example.com/ticket/1" {...form.field('url')} />
      <TextField label="Title" maxLength={255} {...form.field('title')} />
    </FormDialog>
  )
}

/** The address of a link template for a flag; undefined unless it is an address of the web. */
function fillLink(template: string, flag: Flag): string | undefined {
  const url = template.replaceAll('{{project}}', encodeURIComponent(flag.project)).replaceAll('{{feature}}', encodeURIComponent(flag.name))
  return /^https?:\/\//i.test(url) ? url : undefined
}
