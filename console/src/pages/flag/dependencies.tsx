import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, apiQuery, type Schema, useChange } from '../../api'
import { FormDialog, useForm } from '../../forms'
import { useProtection } from '../../requests/drafts'
import { SkipsFreezes } from '../../requests/freeze'
import { followsAtOnce, IconButton, Icons, listed, More, Notice, RadioGroup, useAsked, useAsks } from '../../ui'
import { Combobox, MultiCombobox } from '../../ui/combobox'
import { flagKey, flagPath, touched, useReasons, type Flag } from './data'
import { Part } from './part'
import { onlyWhere, parentText } from './strategy/describe'

type Dependency = Schema<'Dependency'>

const pathOf = (flag: Flag) => ({ projectId: flag.project, featureName: flag.name })
const saveRequest = (flag: Flag, dependency: Dependency) => api.request.post(`${flagPath}/dependencies`, { path: pathOf(flag), body: dependency })
const save = (flag: Flag, dependency: Dependency) => api.send(saveRequest(flag, dependency))
const removeRequest = (flag: Flag, parent: string) => api.request.delete(`${flagPath}/dependencies/{parent}`, { path: { ...pathOf(flag), parent } })

// Throws if the dependency on a parent, or that there is none, is not what a change has left: Undo must not overwrite that of another person.
async function expectDependency(flag: Flag, parent: string, left?: Dependency) {
  const { dependencies } = await api.get(flagPath, { path: pathOf(flag) })
  const now = dependencies.find(({ feature }) => feature === parent)
  if (now?.enabled !== left?.enabled || String(now?.variants) !== String(left?.variants))
    throw new Error(`Meanwhile the dependency on ${parent} has changed. Nothing was undone.`)
}

/** The production environments where the flag is on, so that a change of its dependencies is followed at once, without those that do not ask. */
function useLive(flag: Flag) {
  const asks = useAsks()
  const protection = useProtection(flag.project)
  return protection.drafts() ? [] : flag.environments.filter((one) => one.enabled && asks(one))
}

/** The flags on which the flag depends, and those that depend on it. */
export function Dependencies({ flag }: { flag: Flag }) {
  const [editing, setEditing] = useState<Dependency | 'new'>()
  const reason = useReasons(flag)('UPDATE_FEATURE_DEPENDENCY')
  const live = useLive(flag)
  const [ask, question] = useAsked()
  const remove = useChange({
    change: ({ feature }: Dependency) => api.send(removeRequest(flag, feature)),
    requests: ({ feature }) => [removeRequest(flag, feature)],
    invalidates: touched,
    optimistic: (dependency) => [
      { key: flagKey(flag), update: (old?: Flag) => old && { ...old, dependencies: old.dependencies.filter((one) => one.feature !== dependency.feature) } },
    ],
    success: (_, dependency) => `${flag.name}: no longer depends on ${dependency.feature}`,
    undo: async (dependency) => {
      await expectDependency(flag, dependency.feature)
      await save(flag, dependency)
    },
  })
  const askAndRemove = (dependency: Dependency) => {
    const act = () => remove.mutate(dependency)
    const [environment, ...others] = live
    if (!environment) return act()
    const rest = flag.dependencies.filter((one) => one.feature !== dependency.feature)
    ask({
      environment,
      others,
      title: `Remove the dependency of ${flag.name} on ${dependency.feature}?`,
      action: 'Remove',
      danger: true,
      details: (
        <>
          <p className="break">
            {flag.name} will be on there for all whom its strategies select, whether {dependency.feature} is on or off.
            {rest.length > 0 && ` ${onlyWhere(rest)}`}
          </p>
          <SkipsFreezes project={flag.project} flags={[{ environments: live }]} />
        </>
      ),
      act,
    })
  }
  const obstacle = flag.children.length > 0 ? 'Other flags depend on this flag, so it cannot have parents.' : undefined
  return (
    <Part
      title="Dependencies"
      action={<IconButton size="small" label="Add parent" icon={<Icons.Plus />} disabledReason={reason ?? obstacle} onClick={() => setEditing('new')} />}
    >
      {flag.dependencies.map((dependency) => (
        <div key={dependency.feature} className="rail-head">
          <span className="break">
            <FlagLink project={flag.project} name={dependency.feature} /> must be <strong>{dependency.enabled ? 'on' : 'off'}</strong>
            {dependency.variants.length > 0 &&
              ` with ${dependency.variants.length > 1 ? 'one of the variants' : 'the variant'} ${dependency.variants.join(', ')}`}
          </span>
          <span className="rail-buttons">
            <IconButton
              size="small"
              label={`Edit dependency on ${dependency.feature}`}
              icon={<Icons.Edit />}
              disabledReason={reason}
              onClick={() => setEditing(dependency)}
            />
            <IconButton
              size="small"
              label={`Remove dependency on ${dependency.feature}`}
              icon={<Icons.Trash />}
              disabledReason={reason}
              onClick={() => askAndRemove(dependency)}
            />
          </span>
        </div>
      ))}
      {flag.children.length > 0 && (
        <p className="break">
          <span className="soft">Flags that depend on this one: </span>
          {flag.children.slice(0, shownChildren).map((child, index) => (
            <span key={child}>
              {index > 0 && ', '}
              <FlagLink project={flag.project} name={child} />
            </span>
          ))}
          <More values={flag.children.slice(shownChildren)} label="More flags that depend on this one" />
        </p>
      )}
      {editing && <DependencyDialog flag={flag} dependency={editing === 'new' ? undefined : editing} onClose={() => setEditing(undefined)} />}
      {question}
    </Part>
  )
}

const shownChildren = 10

function FlagLink({ project, name }: { project: string; name: string }) {
  return (
    <Link to="/projects/$projectId/flags/$flag" params={{ projectId: project, flag: name }} className="break">
      {name}
    </Link>
  )
}

type State = 'on' | 'variant' | 'off'

function DependencyDialog({ flag, dependency, onClose }: { flag: Flag; dependency?: Dependency; onClose: () => void }) {
  const protection = useProtection(flag.project)
  const live = useLive(flag)
  const parents = useQuery(apiQuery(`${flagPath}/parents`, { path: pathOf(flag) }))
  const add = useChange({
    change: (body: Dependency) => save(flag, body),
    requests: (body) => [saveRequest(flag, body)],
    onDrafted: onClose,
    invalidates: touched,
    success: (_, body) => `${flag.name}: depends on ${body.feature}`,
    undo: async (body) => {
      await expectDependency(flag, body.feature, body)
      await (dependency ? save(flag, dependency) : api.send(removeRequest(flag, body.feature)))
    },
    showsErrors: true,
    onSuccess: onClose,
  })
  const bodyOf = ({ feature, state, variants }: { feature: string; state: State; variants: string[] }) => ({
    feature,
    enabled: state !== 'off',
    variants: state === 'variant' ? variants : [],
  })
  const form = useForm<{ feature: string; state: State; variants: string[] }>({
    initial: {
      feature: dependency?.feature ?? '',
      state: !dependency || dependency.enabled ? (dependency?.variants.length ? 'variant' : 'on') : 'off',
      variants: dependency?.variants ?? [],
    },
    submit: (values) => add.mutateAsync(bodyOf(values)),
    check: ({ feature, state, variants }) => ({
      feature: feature ? '' : 'Choose a flag.',
      variants: state === 'variant' && variants.length === 0 ? 'Choose at least one variant.' : '',
    }),
  })
  const { feature, state, variants } = form.values
  const variantsOfParent = useQuery({
    ...apiQuery(`${flagPath}/parent-variants`, { path: { projectId: flag.project, featureName: feature } }),
    enabled: feature !== '' && state === 'variant',
  })
  return (
    <FormDialog
      form={form}
      submit={protection.label(dependency ? 'Save' : 'Add parent')}
      onClose={onClose}
      title={dependency ? `Dependency on ${dependency.feature}` : 'Add a parent'}
      description="A parent is a flag of the same project that has no parents itself."
    >
      {!dependency && (
        <Combobox
          label="Parent"
          required
          choices={(parents.data ?? []).map((name) => ({ value: name, label: name }))}
          value={feature}
          onChange={(next) => form.set({ feature: next, variants: [] })}
          placeholder="Type to search"
          emptyText="No flag that could be a parent matches."
          error={form.field('feature').error}
        />
      )}
      <RadioGroup
        label="It must be"
        choices={[
          { value: 'on', label: 'On', hint: 'With any variant.' },
          { value: 'variant', label: 'On with certain variants' },
          { value: 'off', label: 'Off' },
        ]}
        {...form.field('state')}
      />
      {state === 'variant' && (
        <MultiCombobox
          label="Variants"
          choices={(variantsOfParent.data ?? []).map((name) => ({ value: name, label: name }))}
          value={variants}
          onChange={(next) => form.set({ variants: next })}
          emptyText={feature ? 'The parent has no such variant.' : 'Choose a parent first.'}
          error={form.field('variants').error}
        />
      )}
      {live.length > 0 && form.dirty && (
        <Notice>
          <p className="strong break">
            {flag.name} is on in {listed(live.map(({ name }) => name))}, and then only where{' '}
            {parentText({ ...bodyOf(form.values), feature: feature || 'its parent' })}.
          </p>
          <p>{followsAtOnce(...live)}</p>
          <SkipsFreezes project={flag.project} flags={[{ environments: live }]} />
        </Notice>
      )}
    </FormDialog>
  )
}
