import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { apiQuery, type Schema } from '../api'
import { Button, Checkbox, Field, IconButton, Icons, Select, TextField } from '../ui'
import { SuggestField, type Suggestion } from '../ui/suggest'
import './constraints.css'
import { describeConstraint, describeDate } from './describe'
import { fromLocalInput, maxConstraints, maxValueLength, newConstraint, standardFields, toLocalInput, withField, withOperator } from './edit'
import { constraintError, errorAt, invalidValues, listError, type Errors } from './errors'
import { canIgnoreCase, kindOf, operatorChoices, sdkNote, takesList, type Constraint } from './operators'
import { ConstraintSummary } from './summary'
import { ValuesField } from './values'

interface ConstraintListProps {
  value: readonly Constraint[]
  onChange: (value: Constraint[]) => void
  /** The messages of the server: errors.byPointer of useForm. */
  errors?: Errors
  /** The pointer of the list in the body of the request. */
  basePath?: string
  /** Why the constraints cannot be changed: they are then shown as sentences. */
  disabledReason?: string
}

/** Edits a list of constraints, all of which must hold. Send toRequest(value) to the server. */
export function ConstraintList({ value, onChange, errors, basePath = '/constraints', disabledReason }: ConstraintListProps) {
  const fields = useQuery({ ...apiQuery('/api/admin/context'), enabled: !disabledReason })
  const segments = useQuery({ ...apiQuery('/api/admin/segments'), enabled: !disabledReason, staleTime: 60_000 })
  const used = [...new Set((segments.data?.segments ?? []).flatMap((segment) => segment.constraints.map((one) => one.contextName)))]
  const box = useRef<HTMLDivElement>(null)
  const add = useRef<HTMLButtonElement>(null)
  if (disabledReason) return <ConstraintSummary constraints={value} />
  const append = () => {
    onChange([...value, newConstraint()])
    // The new constraint is in the document after this event.
    setTimeout(() => box.current?.querySelector<HTMLInputElement>('.constraint:last-of-type input')?.focus(), 0)
  }
  const listMessage = errorAt(errors, basePath)
  return (
    <div className="stack-s" ref={box}>
      {value.map((constraint, index) => (
        <ConstraintEditor
          key={index}
          index={index}
          value={constraint}
          fields={fields.data ?? []}
          used={used}
          errors={errors}
          path={`${basePath}/${index}`}
          onChange={(next) => onChange(value.map((old, other) => (other === index ? next : old)))}
          onRemove={() => {
            onChange(value.filter((_, other) => other !== index))
            add.current?.focus()
          }}
        />
      ))}
      {listMessage && <p className="field-error">{listMessage}</p>}
      <div>
        <Button
          ref={add}
          icon={<Icons.Plus />}
          onClick={append}
          disabledReason={value.length >= maxConstraints ? `At most ${maxConstraints} constraints are allowed.` : undefined}
        >
          Add constraint
        </Button>
      </div>
    </div>
  )
}

interface ConstraintEditorProps {
  index: number
  value: Constraint
  fields: readonly Schema<'ContextFieldRow'>[]
  /** Fields of segments, which may not be defined. */
  used: readonly string[]
  errors?: Errors
  path: string
  onChange: (value: Constraint) => void
  onRemove: () => void
}

function ConstraintEditor({ index, value, fields, used, errors, path, onChange, onRemove }: ConstraintEditorProps) {
  const message = constraintError(errors, path)
  return (
    <>
      {index > 0 && <p className="constraint-and">and</p>}
      <fieldset className="constraint">
        <legend className="visually-hidden">Constraint {index + 1}</legend>
        <div className="constraint-head">
          <SuggestField
            label="Context field"
            value={value.contextName}
            onChange={(contextName) => onChange(withField(value, contextName))}
            suggestions={suggestionsOf(fields, used)}
            error={errorAt(errors, `${path}/contextName`)}
            hint={isUnknown(value.contextName, fields) ? 'Not a defined context field. The application must send it.' : undefined}
            maxLength={100}
            placeholder="userId"
          />
          <Select
            label="Operator"
            choices={operatorChoices}
            value={value.operator}
            error={errorAt(errors, `${path}/operator`)}
            hint={sdkNote(value)}
            onChange={(operator) => onChange(withOperator(value, operator))}
          />
          <IconButton label={`Remove constraint ${index + 1}`} icon={<Icons.Trash />} onClick={onRemove} />
        </div>
        <ValueEditor value={value} fields={fields} errors={errors} path={path} onChange={onChange} />
        <div className="row constraint-options">
          <Checkbox label="Invert" checked={value.inverted} onChange={(inverted) => onChange({ ...value, inverted })} />
          {canIgnoreCase(value.operator) && (
            <Checkbox label="Ignore case" checked={value.caseInsensitive} onChange={(caseInsensitive) => onChange({ ...value, caseInsensitive })} />
          )}
          <p className="soft small grow break">Holds if {describeConstraint(value)}</p>
        </div>
        {message && <p className="field-error">{message}</p>}
      </fieldset>
    </>
  )
}

type Fields = ConstraintEditorProps['fields']

function suggestionsOf(fields: Fields, used: readonly string[]): Suggestion[] {
  const defined = fields.map((field) => ({ value: field.name, note: field.description ?? undefined }))
  const others = [...new Set([...standardFields, ...used])].filter((name) => !fields.some((field) => field.name === name))
  return [...defined, ...others.map((value) => ({ value }))]
}

const isUnknown = (name: string, fields: Fields) =>
  name !== '' && fields.length > 0 && !standardFields.includes(name) && !fields.some((field) => field.name === name)

function ValueEditor({ value, fields, errors, path, onChange }: Omit<ConstraintEditorProps, 'index' | 'used' | 'onRemove'>) {
  const kind = kindOf(value.operator)
  if (takesList(value.operator)) {
    const legal = kind === 'set' ? fields.find((field) => field.name === value.contextName)?.legalValues : undefined
    return (
      <ValuesField
        label="Values"
        values={value.values}
        onChange={(values) => onChange({ ...value, values })}
        legal={legal?.map((one) => ({ value: one.value, note: one.description }))}
        error={listError(errors, `${path}/values`, value.values)}
        invalid={invalidValues(errors, `${path}/values`)}
        placeholder={kind === 'network' ? '10.0.0.0/8' : undefined}
        mono={kind === 'network'}
      />
    )
  }
  const shared = {
    value: value.value ?? '',
    onChange: (text: string) => onChange({ ...value, value: text }),
    error: errorAt(errors, `${path}/value`),
    maxLength: maxValueLength,
  }
  switch (kind) {
    case 'date':
      return <DateField {...shared} />
    case 'number':
      return <TextField label="Number" inputMode="decimal" placeholder="18" {...shared} className="number constraint-short" />
    case 'semver':
      return <TextField label="Version" placeholder="1.2.3" hint="A full semantic version." {...shared} className="number constraint-short" />
    default:
      return (
        <TextField
          label="Pattern"
          placeholder="^beta-[0-9]+$"
          hint="A regular expression in the syntax of RE2, which has no lookarounds and back-references."
          {...shared}
          className="mono"
          spellCheck={false}
        />
      )
  }
}

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone

function DateField({ value, onChange, error }: { value: string; onChange: (value: string) => void; error?: string }) {
  const local = toLocalInput(value)
  return (
    <Field label="Date and time" error={error} hint={`In your time zone, ${zone}.${value ? ` Stored as ${describeDate(value)}.` : ''}`}>
      {(control) => (
        <input
          {...control}
          type="datetime-local"
          className="input constraint-short"
          value={local}
          onChange={(event) => onChange(fromLocalInput(event.target.value))}
        />
      )}
    </Field>
  )
}
