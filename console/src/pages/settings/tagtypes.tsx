import { useQuery } from '@tanstack/react-query'
import { api, apiQuery, useChange, useMe, type ApiRequest, type Schema } from '../../api'
import { FormActions, useForm } from '../../forms'
import { Page, useUrlState } from '../../shell'
import { ActionMenu, Button, Dialog, EmptyState, ErrorState, Icons, Pagination, SearchField, Table, TextArea, TextField, type Column } from '../../ui'
import { pageOf, pageSize, search } from './paged'
import './settings.css'

type TagType = Schema<'TagType'>

const paths = ['/api/admin/tag-types']

/** The types of tags that flags can have. */
export default function TagTypesPage() {
  const me = useMe()
  const types = useQuery(apiQuery('/api/admin/tag-types'))
  const [view, setView] = useUrlState({ q: '', offset: 0, edit: '', create: false })
  const found = search(types.data?.tagTypes ?? [], view.q, (type) => [type.name, type.description])
  const shown = pageOf(found, view.offset)
  const edited = types.data?.tagTypes.find((type) => type.name === view.edit)
  const remove = useChange({
    change: (type: TagType) => api.delete('/api/admin/tag-types/{tagType}', { path: { tagType: type.name } }),
    invalidates: paths,
    success: (_, type) => `Tag type ${type.name} deleted. Flags keep their tags.`,
    undo: (type) => api.post('/api/admin/tag-types', { body: type }),
  })
  const columns: Column<TagType>[] = [
    { id: 'icon', header: 'Icon', width: '64px', cell: (type) => <TagIcon icon={type.icon} /> },
    {
      id: 'name',
      header: 'Name',
      cell: (type) => (
        <button type="button" className="link-button strong break cell-name" onClick={() => setView({ edit: type.name }, { push: true })}>
          {type.name}
        </button>
      ),
    },
    { id: 'description', header: 'Description', cell: (type) => <p className="break two-lines cell-text">{type.description}</p> },
    {
      id: 'actions',
      header: 'Actions',
      hideHeader: true,
      align: 'right',
      width: '48px',
      cell: (type) => (
        <ActionMenu
          label={`Actions for ${type.name}`}
          entries={[
            {
              label: 'Edit',
              icon: <Icons.Edit />,
              onSelect: () => setView({ edit: type.name }, { push: true }),
              disabledReason: me.can('UPDATE_TAG_TYPE').reason,
            },
            { label: 'Delete', icon: <Icons.Trash />, danger: true, onSelect: () => remove.mutate(type), disabledReason: me.can('DELETE_TAG_TYPE').reason },
          ]}
        />
      ),
    },
  ]
  const create = (
    <Button variant="primary" icon={<Icons.Plus />} disabledReason={me.can('CREATE_TAG_TYPE').reason} onClick={() => setView({ create: true }, { push: true })}>
      Create tag type
    </Button>
  )
  return (
    <Page title="Tag types" description="A tag of a flag has a type and a value, such as team:checkout. Tags help you find flags." actions={create}>
      {types.error ? (
        <ErrorState error={types.error} onRetry={() => void types.refetch()} />
      ) : (
        <div className="stack">
          {(types.data?.tagTypes.length ?? 0) > 10 && (
            <SearchField label="Search tag types" value={view.q} onChange={(q) => setView({ q, offset: 0 })} maxLength={100} />
          )}
          <Table
            label="Tag types"
            columns={columns}
            rows={shown.rows}
            rowKey={(type) => type.name}
            loading={types.isPending}
            empty={
              view.q ? (
                <EmptyState icon={<Icons.Search />} title="No tag type matches" />
              ) : (
                <EmptyState icon={<Icons.Tag />} title="No tag types" action={create}>
                  Create a type such as “team” or “jira”. Flags can then have tags like team:checkout.
                </EmptyState>
              )
            }
          />
          <Pagination noun="tag types" offset={shown.offset} limit={pageSize} total={found.length} onChange={(offset) => setView({ offset })} />
        </div>
      )}
      {view.create && <TagTypeDialog onClose={() => setView({ create: false })} disabledReason={me.can('CREATE_TAG_TYPE').reason} />}
      {edited && !view.create && (
        <TagTypeDialog key={edited.name} type={edited} onClose={() => setView({ edit: '' })} disabledReason={me.can('UPDATE_TAG_TYPE').reason} />
      )}
    </Page>
  )
}

// The icon can be the URL of an image, which the Content-Security-Policy does not allow to load: then a plain icon is shown.
function TagIcon({ icon }: { icon: string | null }) {
  if (!icon || icon.length > 4) return <Icons.Tag />
  return <span aria-hidden="true">{icon}</span>
}

interface Values {
  name: string
  description: string
  icon: string
}

function TagTypeDialog({ type, onClose, disabledReason }: { type?: TagType; onClose: () => void; disabledReason?: string }) {
  const requestOf = (values: Values): ApiRequest => {
    const body = { description: values.description || null, icon: values.icon.trim() || null }
    return type
      ? api.request.put('/api/admin/tag-types/{tagType}', { path: { tagType: type.name }, body })
      : api.request.post('/api/admin/tag-types', { body: { ...body, name: values.name.trim() } })
  }
  const save = useChange({
    change: (values: Values) => api.send(requestOf(values)),
    invalidates: paths,
    success: (_, { name }) => (type ? `Tag type ${name} saved` : `Tag type ${name.trim()} created`),
    onSuccess: onClose,
    showsErrors: true,
  })
  const form = useForm({
    initial: { name: type?.name ?? '', description: type?.description ?? '', icon: type?.icon ?? '' },
    nameField: 'name',
    submit: (values) => save.mutateAsync(values),
  })
  return (
    <Dialog open onClose={onClose} title={type ? `Tag type ${type.name}` : 'Create tag type'}>
      <form {...form.props}>
        <fieldset className="stack" disabled={Boolean(disabledReason)}>
          {!type && (
            <TextField label="Name" required maxLength={50} placeholder="team" hint="2 to 50 characters. It cannot be renamed." {...form.field('name')} />
          )}
          <TextArea label="Description" rows={2} maxLength={2000} {...form.field('description')} />
          <TextField label="Icon" maxLength={255} placeholder="#" hint="A character, shown before the name." {...form.field('icon')} />
        </fieldset>
        <FormActions form={form} submit={type ? 'Save tag type' : 'Create tag type'} onCancel={onClose} disabledReason={disabledReason} />
      </form>
    </Dialog>
  )
}
