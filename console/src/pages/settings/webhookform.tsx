import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, apiQuery, useChange, useMe, type Schema } from '../../api'
import { FormActions, useForm } from '../../forms'
import { Button, Checkbox, Icons, Notice, RadioGroup, Section, TextArea, TextField, isProduction } from '../../ui'
import { MultiCombobox } from '../../ui/combobox'
import { usualEvents } from './eventgroups'
import { EventPicker } from './eventpicker'
import { addonPaths, useTestWebhook } from './webhookactions'

type Addon = Schema<'Addon'>
type Provider = Schema<'Provider'>
type Parameter = Schema<'Parameter'>
type Body = Schema<'AddonRequest'>

/** What the server returns for a stored secret, and takes to keep it. */
const stored = '*****'

/** Edits a webhook, or creates one if none is given. */
export function WebhookForm({ addon, providers }: { addon?: Addon; providers: readonly Provider[] }) {
  const me = useMe()
  const navigate = useNavigate()
  const reason = me.can(addon ? 'UPDATE_ADDON' : 'CREATE_ADDON').reason
  const test = useTestWebhook()
  const save = useChange({
    change: (body: Body) => (addon ? api.put('/api/admin/addons/{addonId}', { path: { addonId: addon.id }, body }) : api.post('/api/admin/addons', { body })),
    invalidates: addonPaths,
    success: addon ? 'Webhook saved' : 'Webhook created. The result of a test event appears below.',
    showsErrors: true,
  })
  const form = useForm({
    initial: {
      provider: (addon?.provider ?? 'webhook') as Body['provider'],
      description: addon?.description ?? '',
      enabled: addon?.enabled ?? true,
      events: addon?.events ?? usualEvents,
      projects: addon?.projects ?? [],
      environments: addon?.environments ?? [],
      parameters: addon?.parameters ?? {},
    },
    submit: async (values) => {
      const parameters = Object.fromEntries(Object.entries(values.parameters).filter(([, value]) => value.trim() !== ''))
      const saved = await save.mutateAsync({ ...values, description: values.description || null, parameters })
      // Only a delivery shows whether the server may and can reach a new URL.
      if (values.enabled && values.parameters.url !== addon?.parameters.url) await test.mutateAsync(saved).catch(() => undefined)
      if (!addon) return void navigate({ to: '/webhooks/$id', params: { id: String(saved.id) }, replace: true })
      form.set({ parameters: saved.parameters })
    },
  })
  const provider = providers.find((one) => one.name === form.values.provider)
  const optional = provider?.parameters.filter((parameter) => !parameter.required) ?? []
  // An optional parameter that has a value or an error is not hidden.
  const [opened, setOpen] = useState<boolean>()
  const open = opened ?? optional.some((parameter) => form.values.parameters[parameter.name] || form.errors.byPointer[`/parameters/${parameter.name}`])
  const setParameter = (name: string, value: string) => form.set({ parameters: { ...form.values.parameters, [name]: value } })
  const parameterField = (parameter: Parameter) => (
    <ParameterField
      key={parameter.name}
      parameter={parameter}
      value={form.values.parameters[parameter.name] ?? ''}
      onChange={(value) => setParameter(parameter.name, value)}
      error={form.errorAt(`/parameters/${parameter.name}`)}
      host={parameter.name === 'url' ? addon?.host : undefined}
    />
  )
  return (
    <form {...form.props}>
      <Section title={addon ? 'Settings' : undefined}>
        {reason && <Notice>{reason}</Notice>}
        <fieldset className="stack" disabled={Boolean(reason)}>
          {!addon && (
            <RadioGroup
              label="Kind"
              value={form.values.provider}
              onChange={(kind) => form.set({ provider: kind, parameters: {} })}
              choices={providers.map((one) => ({ value: one.name as Body['provider'], label: one.displayName, hint: one.description }))}
            />
          )}
          {provider?.parameters.filter((parameter) => parameter.required).map(parameterField)}
          <TextField label="Description" maxLength={2000} placeholder="Switches in production, for the team chat" {...form.field('description')} />
          {addon && (
            <Checkbox
              label="Enabled"
              hint="Events that happen while it is disabled are not sent later."
              checked={form.values.enabled}
              onChange={(enabled) => form.set({ enabled })}
            />
          )}
          {optional.length > 0 && (
            <div className="row">
              <Button icon={open ? <Icons.Up /> : <Icons.Chevron />} aria-expanded={open} onClick={() => setOpen(!open)}>
                {open ? 'Fewer options' : 'More options'}
              </Button>
              {!open && <span className="soft break">{optional.map((parameter) => parameter.displayName).join(', ')}</span>}
            </div>
          )}
          {open && optional.map(parameterField)}
        </fieldset>
      </Section>
      <Section title="What is sent">
        <fieldset className="stack" disabled={Boolean(reason)}>
          <Sources form={form} />
          <EventPicker types={provider?.events ?? []} value={form.values.events} onChange={(events) => form.set({ events })} error={form.errorAt('/events')} />
        </fieldset>
      </Section>
      <FormActions
        form={form}
        submit={addon ? 'Save webhook' : 'Create webhook'}
        onCancel={addon ? undefined : () => void navigate({ to: '/webhooks' })}
        disabledReason={reason ?? (addon && !form.dirty ? 'Nothing has changed.' : undefined)}
      />
    </form>
  )
}

interface SourcesForm {
  field: (name: 'projects' | 'environments') => { value: string[]; onChange: (value: string[]) => void; error?: string }
}

function Sources({ form }: { form: SourcesForm }) {
  const projects = useQuery(apiQuery('/api/admin/projects'))
  const environments = useQuery(apiQuery('/api/admin/environments'))
  return (
    <div className="columns">
      <MultiCombobox
        label="Projects"
        placeholder="All projects"
        choices={(projects.data?.projects ?? []).map((project) => ({ value: project.id, label: project.name }))}
        {...form.field('projects')}
      />
      <MultiCombobox
        label="Environments"
        placeholder="All environments"
        choices={(environments.data?.environments ?? []).map((one) => ({ value: one.name, label: one.name, production: isProduction(one) }))}
        {...form.field('environments')}
      />
    </div>
  )
}

interface ParameterFieldProps {
  parameter: Parameter
  value: string
  onChange: (value: string) => void
  error?: string
  /** The host of the stored URL. */
  host?: string
}

// Hosts that the server refuses, unless the setting WEBHOOK_PRIVATE_NETWORKS allows them.
const privateHost = /^https?:\/\/(localhost|127\.|10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|\[::1\])/i

function ParameterField({ parameter, value, onChange, error, host }: ParameterFieldProps) {
  const kept = parameter.sensitive && value === stored
  if (kept && host)
    return (
      <div className="field">
        <span className="field-label">{parameter.displayName}</span>
        <span className="row">
          <code className="break">{host}/•••••</code>
          <Button size="small" onClick={() => onChange('')} aria-label={`Replace ${parameter.displayName}`}>
            Replace
          </Button>
        </span>
      </div>
    )
  const shared = {
    label: parameter.displayName,
    required: parameter.required,
    hint: kept
      ? `Stored, and never shown again. Enter another value to replace it${parameter.required ? '' : ', or clear it'}.`
      : privateHost.test(value)
        ? 'A private address: deliveries fail unless the setting WEBHOOK_PRIVATE_NETWORKS of the server allows it.'
        : parameter.description.replace(/^\((Required|Optional)\) /, ''),
    error,
    placeholder: parameter.placeholder,
    value,
    onChange,
    maxLength: 10_000,
    spellCheck: false,
    // A new value replaces the stars.
    onFocus: (event: { target: { select: () => void } }) => {
      if (kept) event.target.select()
    },
  }
  return parameter.type === 'textfield' ? <TextArea {...shared} /> : <TextField {...shared} inputMode={parameter.type === 'url' ? 'url' : undefined} />
}
