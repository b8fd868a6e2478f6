import { useRef } from 'react'
import { Button, Checkbox, Icons, IconButton, NumberField, Select, TextField, type Choice } from '../../../ui'
import { StickinessField } from '../strategy/parameters'
import { maxVariants, newVariant, percentOf, valueTypes, weightProblem, weights, type ValueType, type VariantDraft } from './model'
import { Overrides } from './overrides'
import { ValueField } from './value'
import { WeightDot, WeightParts } from './weightbar'

interface VariantListProps {
  value: readonly VariantDraft[]
  onChange: (value: VariantDraft[]) => void
  errorAt: (pointer: string) => string | undefined
  /** The pointer of the list in the body of the request. */
  basePath: string
  /** Stickiness of the first variant. */
  stickiness: string
  /** Whether values of context fields can get a certain variant. */
  overrides?: boolean
  /** The type of the flag's values; absent for any. */
  valueType?: ValueType
}

/** Edits variants with their weights, payloads and overrides. */
export function VariantListEditor({ value, onChange, errorAt, basePath, stickiness, overrides, valueType }: VariantListProps) {
  const box = useRef<HTMLDivElement>(null)
  const shares = weights(value)
  const problem = weightProblem(value)
  const shared = value[0]?.stickiness ?? stickiness
  const add = () => {
    const next = [...value, newVariant(shared, '', valueType)]
    // The first variant alone would be no choice.
    if (next.length === 1) next.push(newVariant(shared, '', valueType))
    onChange(next)
    const position = value.length
    // The new fields are in the document after this event.
    setTimeout(() => box.current?.querySelectorAll<HTMLInputElement>('.variant-name input')[position]?.focus(), 0)
  }
  const change = (index: number, next: Partial<VariantDraft>) => onChange(value.map((one, other) => (other === index ? { ...one, ...next } : one)))
  return (
    <div className="stack-s" ref={box}>
      {value.length > 0 && <WeightParts variants={value.map((variant, index) => ({ name: variant.name, weight: shares[index] ?? 0 }))} />}
      {value.map((variant, index) => (
        <VariantEditor
          key={variant.key}
          index={index}
          value={variant}
          share={shares[index] ?? 0}
          path={`${basePath}/${index}`}
          errorAt={errorAt}
          overrides={overrides}
          valueType={valueType}
          onChange={(next) => change(index, next)}
          onRemove={() => onChange(value.filter((_, other) => other !== index))}
        />
      ))}
      {problem && <p className="field-error">{problem}</p>}
      {!problem && errorAt(basePath) && <p className="field-error">{errorAt(basePath)}</p>}
      <div className="row">
        <Button icon={<Icons.Plus />} onClick={add} disabledReason={value.length >= maxVariants ? `At most ${maxVariants} variants are allowed.` : undefined}>
          {value.length === 0 ? 'Add variants' : 'Add variant'}
        </Button>
      </div>
      {value.length > 0 && (
        <StickinessField
          label="Stickiness of the variants"
          value={shared}
          onChange={(next) => onChange(value.map((one) => ({ ...one, stickiness: next })))}
          hint={
            value.some((one) => one.stickiness !== shared)
              ? 'The variants have different settings. Choosing one here sets it for all.'
              : 'The same value of this field always gets the same variant.'
          }
        />
      )}
    </div>
  )
}

interface VariantEditorProps {
  index: number
  value: VariantDraft
  /** The resulting weight in thousandths. */
  share: number
  path: string
  errorAt: (pointer: string) => string | undefined
  overrides?: boolean
  valueType?: ValueType
  onChange: (change: Partial<VariantDraft>) => void
  onRemove: () => void
}

function VariantEditor({ index, value, share, path, errorAt, overrides, valueType, onChange, onRemove }: VariantEditorProps) {
  const name = value.name || `variant ${index + 1}`
  const typed = valueTypes.find((one) => one.value === valueType)
  const choices = typed
    ? payloadTypes.flatMap((one) =>
        one.value === typed.payload ? { ...one, label: typed.label } : one.value === 'none' || one.value === value.payloadType ? one : [],
      )
    : payloadTypes
  return (
    <fieldset className="variant">
      <legend className="visually-hidden">Variant {index + 1}</legend>
      <div className="variant-head">
        <WeightDot index={index} />
        <span className="variant-name">
          <TextField
            label="Name"
            value={value.name}
            onChange={(next) => onChange({ name: next })}
            error={errorAt(`${path}/name`)}
            maxLength={255}
            placeholder={index === 0 ? 'blue' : index === 1 ? 'green' : ''}
          />
        </span>
        {value.fixed ? (
          <NumberField
            label="Weight"
            unit="%"
            min={0}
            max={100}
            step={0.1}
            value={value.percent}
            onChange={(percent) => onChange({ percent })}
            error={errorAt(`${path}/weight`)}
          />
        ) : (
          <p className="field">
            <span className="field-label">Weight</span>
            <span className="variant-share number">{percentOf(share)}</span>
          </p>
        )}
        <Select label="Payload" choices={choices} value={value.payloadType} onChange={(payloadType) => onChange({ payloadType })} />
        <IconButton label={`Remove ${name}`} icon={<Icons.Trash />} onClick={onRemove} />
      </div>
      {value.payloadType !== 'none' && (
        <ValueField
          label="Value"
          type={typed && typed.payload === value.payloadType ? typed.value : fields[value.payloadType]}
          value={value.payload}
          onChange={(payload) => onChange({ payload })}
          error={errorAt(`${path}/payload`)}
        />
      )}
      <Checkbox label="Fixed weight" checked={value.fixed} onChange={(fixed) => onChange({ fixed, percent: fixed ? share / 10 : null })} />
      {overrides && (
        <Overrides value={value.overrides} onChange={(next) => onChange({ overrides: next })} path={`${path}/overrides`} errorAt={errorAt} name={name} />
      )}
    </fieldset>
  )
}

const payloadTypes: Choice<VariantDraft['payloadType']>[] = [
  { value: 'none', label: 'None' },
  { value: 'string', label: 'Text' },
  { value: 'json', label: 'JSON' },
  { value: 'csv', label: 'CSV' },
  { value: 'number', label: 'Number' },
]

/** The field of each type of payload, for a flag without a value type. */
const fields = { string: 'string', json: 'object', csv: 'csv', number: 'number' } as const
