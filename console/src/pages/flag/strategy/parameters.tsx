import { useQuery } from '@tanstack/react-query'
import { apiQuery } from '../../../api'
import { ValuesField } from '../../../constraints/values'
import { Checkbox, Select, TextField, type Choice } from '../../../ui'
import { describeStickiness, stickinessOf } from './describe'
import { listOf, percentageName, type Parameter, type StrategyDraft, type StrategyType } from './model'
import { RolloutField, RolloutPreview } from './rollout'

interface ParametersProps {
  draft: StrategyDraft
  type: StrategyType | undefined
  /** The flag of the strategy; absent for the default strategy of a project. */
  flag?: string
  onChange: (parameters: Record<string, string>) => void
  errorAt: (pointer: string) => string | undefined
}

/** The parameters of a strategy, by the definition of its type. */
export function Parameters({ draft, type, flag, onChange, errorAt }: ParametersProps) {
  const set = (name: string, value: string) => onChange({ ...draft.parameters, [name]: value })
  const percentage = percentageName(draft)
  const stickiness = stickinessOf(draft)
  const group = draft.parameters.groupId || flag
  const parameters = type?.parameters ?? []
  const isGroup = (parameter: Parameter) => parameter.name === 'groupId' && percentage !== undefined
  const field = (parameter: Parameter) => (
    <ParameterField
      key={parameter.name}
      parameter={parameter}
      strategy={draft}
      flag={flag}
      value={draft.parameters[parameter.name] ?? ''}
      onChange={(value) => set(parameter.name, value)}
      error={errorAt(`/parameters/${parameter.name.replaceAll('~', '~0').replaceAll('/', '~1')}`)}
    />
  )
  if (parameters.length === 0) return null
  return (
    <>
      {parameters.filter((parameter) => !isGroup(parameter)).map(field)}
      {percentage && group && stickiness !== 'random' && (
        <RolloutPreview
          percent={Number(draft.parameters[percentage] ?? 0)}
          groupId={group}
          field={stickiness === 'default' ? 'userId' : stickiness}
          conditions={draft.segments.length + draft.constraints.length > 0}
        />
      )}
      {parameters.some(isGroup) && (
        <details className="form-more">
          <summary>Group ID</summary>
          {parameters.filter(isGroup).map(field)}
        </details>
      )}
    </>
  )
}

interface ParameterFieldProps {
  parameter: Parameter
  strategy: StrategyDraft
  flag?: string
  value: string
  onChange: (value: string) => void
  error?: string
}

function ParameterField({ parameter, strategy, flag, value, onChange, error }: ParameterFieldProps) {
  const builtIn = builtInLabels[parameter.name]
  const label = builtIn ?? parameter.name
  const shared = { label, value, onChange, error, required: parameter.required, hint: builtIn ? undefined : parameter.description }
  if (strategy.name === 'flexibleRollout' && parameter.name === 'stickiness') {
    return <StickinessField label="Stickiness" value={value || 'default'} onChange={onChange} error={error} hint={describeStickiness(strategy)} />
  }
  if (parameter.name === 'groupId' && percentageName(strategy)) {
    return (
      <TextField
        {...shared}
        placeholder={flag}
        maxLength={100}
        hint="Flags with the same group ID select the same users. By default it is the name of the flag."
      />
    )
  }
  switch (parameter.type) {
    case 'percentage':
      return <RolloutField label={label} value={value} onChange={onChange} error={error} />
    case 'list':
      return <ValuesField label={label} values={listOf(value)} onChange={(values) => onChange(values.join(','))} error={error} />
    case 'boolean':
      return <Checkbox label={label} hint={error ?? parameter.description} checked={value === 'true'} onChange={(checked) => onChange(String(checked))} />
    case 'number':
      return <TextField {...shared} inputMode="decimal" className="number" maxLength={100} />
    default:
      return <TextField {...shared} maxLength={65_536} />
  }
}

const builtInLabels: Record<string, string> = {
  rollout: 'Percentage',
  percentage: 'Percentage',
  groupId: 'Group ID',
  userIds: 'User IDs',
  IPs: 'IP addresses',
  hostNames: 'Host names',
}

interface StickinessProps {
  label: string
  value: string
  onChange: (value: string) => void
  error?: string
  hint?: string
}

/** The context field that decides about a person in a rollout or among variants. */
export function StickinessField({ value, ...rest }: StickinessProps) {
  const fields = useQuery({ ...apiQuery('/api/admin/context'), staleTime: 60_000 }).data ?? []
  const choices: Choice[] = [
    { value: 'default', label: 'Default: userId, else sessionId, else random' },
    { value: 'userId', label: 'userId' },
    { value: 'sessionId', label: 'sessionId' },
    { value: 'random', label: 'Random: different at each evaluation' },
  ]
  const names = fields.filter((field) => field.stickiness).map((field) => field.name)
  for (const name of [...names, value]) {
    if (!choices.some((choice) => choice.value === name)) choices.push({ value: name, label: name })
  }
  return <Select {...rest} value={value} choices={choices} />
}
