import { useQuery } from '@tanstack/react-query'
import { api, apiQuery, useChange, useMe, type Schema } from '../../api'
import { FormDialog, useChangeForm } from '../../forms'
import { Page } from '../../shell'
import { Icons, TextArea, TextField } from '../../ui'
import { Create, List, deleteEntry, editEntry, useEdited } from './list'
import './settings.css'

type TagType = Schema<'TagType'>

const paths = ['/api/admin/tag-types']

/** The types of tags that flags can have. */
export default function TagTypesPage() {
  const me = useMe()
  const types = useQuery(apiQuery('/api/admin/tag-types'))
  const rows = types.data?.tagTypes
  const edited = useEdited(
    rows,
    (type) => type.name,
    (close, type) => <TagTypeDialog type={type} onClose={close} disabledReason={me.can(type ? 'UPDATE_TAG_TYPE' : 'CREATE_TAG_TYPE').reason} />,
  )
  const remove = useChange({
    change: (type: TagType) => api.delete('/api/admin/tag-types/{tagType}', { path: { tagType: type.name } }),
    invalidates: paths,
    success: (_, type) => `Tag type ${type.name} deleted. Flags keep their tags.`,
    undo: (type) => api.post('/api/admin/tag-types', { body: type }),
  })
  const create = (
    <Create reason={me.can('CREATE_TAG_TYPE').reason} onClick={edited.create}>
      Create tag type
    </Create>
  )
  return (
    <Page title="Tag types" description="A tag of a flag has a type and a value, such as team:checkout. Tags help you find flags." actions={create}>
      <List
        noun="tag type"
        query={types}
        rows={rows}
        rowKey={(type) => type.name}
        texts={(type) => [type.name, type.description]}
        nameOf={(type) => type.name}
        columns={[
          {
            id: 'name',
            header: 'Name',
            width: '30%',
            cell: (type) => (
              <span className="row chips cell-name">
                <TagIcon icon={type.icon} />
                <button type="button" className="link-button strong break" onClick={() => edited.edit(type)}>
                  {type.name}
                </button>
              </span>
            ),
          },
          { id: 'description', header: 'Description', cell: (type) => <p className="break two-lines cell-text">{type.description}</p> },
        ]}
        actions={(type) => [
          editEntry(() => edited.edit(type), me.can('UPDATE_TAG_TYPE').reason),
          deleteEntry(() => remove.mutate(type), me.can('DELETE_TAG_TYPE').reason),
        ]}
        icon={<Icons.Tag />}
        empty="Create a type such as “team” or “jira”. Flags can then have tags like team:checkout."
      />
      {edited.dialog}
    </Page>
  )
}

// The icon can be the URL of an image, which the Content-Security-Policy does not allow to load: then a plain icon is shown.
function TagIcon({ icon }: { icon: string | null }) {
  if (!icon || icon.length > 4) return <Icons.Tag />
  return <span aria-hidden="true">{icon}</span>
}

function TagTypeDialog({ type, onClose, disabledReason }: { type?: TagType; onClose: () => void; disabledReason?: string }) {
  const form = useChangeForm({
    initial: { name: type?.name ?? '', description: type?.description ?? '', icon: type?.icon ?? '' },
    nameField: 'name',
    change: ({ name, description, icon }) => {
      const body = { description: description || null, icon: icon.trim() || null }
      return type
        ? api.put('/api/admin/tag-types/{tagType}', { path: { tagType: type.name }, body })
        : api.post('/api/admin/tag-types', { body: { ...body, name: name.trim() } })
    },
    invalidates: paths,
    success: (_, { name }) => (type ? `Tag type ${name} saved` : `Tag type ${name.trim()} created`),
    onSuccess: onClose,
  })
  return (
    <FormDialog
      form={form}
      title={type ? `Tag type ${type.name}` : 'Create tag type'}
      submit={type ? 'Save tag type' : 'Create tag type'}
      onClose={onClose}
      disabledReason={disabledReason}
    >
      {!type && <TextField label="Name" required maxLength={50} placeholder="team" hint="2 to 50 characters. It cannot be renamed." {...form.field('name')} />}
      <TextArea label="Description" rows={2} maxLength={2000} {...form.field('description')} />
      <TextField label="Icon" maxLength={255} placeholder="#" hint="A character, shown before the name." {...form.field('icon')} />
    </FormDialog>
  )
}
