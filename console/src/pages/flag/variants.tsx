import { useId, useState } from 'react'
import { useUrlState } from '../../shell'
import { Badge, Button, Icons, Table, UnnamedProduction, type Column } from '../../ui'
import { useLoadedFlag, useReasons, type Flag, type FlagEnvironment } from './data'
import { VariantsEditor } from './variants/editor'
import { percentOf, type Variant } from './variants/model'
import { WeightDot, WeightParts } from './variants/weightbar'

/** The variants of the flag in each environment. */
export default function VariantsTab() {
  const flag = useLoadedFlag()
  // The open editor is part of the address.
  const [view, setView] = useUrlState({ edit: '' })
  const [copyFrom, setCopyFrom] = useState<Variant[]>()
  const environment = flag.environments.find((one) => one.name === view.edit)
  const open = (name: string, from?: Variant[]) => {
    setCopyFrom(from)
    setView({ edit: name }, { push: true })
  }
  const none = flag.environments.every((one) => one.variants.length === 0)
  return (
    <>
      {none && (
        <p className="soft">
          Variants split those who get the flag into groups, for example for an A/B test. An application reads the name of its variant, and the payload.
        </p>
      )}
      {flag.environments.map((one) => (
        <EnvironmentVariants key={one.name} flag={flag} environment={one} onEdit={(from) => open(one.name, from)} />
      ))}
      {environment && <VariantsEditor key={environment.name} flag={flag} environment={environment} copyFrom={copyFrom} onClose={() => setView({ edit: '' })} />}
    </>
  )
}

const columnsOf = (all: readonly Variant[]): Column<Variant>[] => [
  {
    id: 'name',
    header: 'Name',
    cell: (variant) => (
      <span className="row">
        <WeightDot index={all.indexOf(variant)} />
        <span className="strong break">{variant.name}</span>
      </span>
    ),
  },
  {
    id: 'weight',
    header: 'Weight',
    width: '130px',
    cell: (variant) => (
      <span className="row">
        <span className="number">{percentOf(variant.weight)}</span>
        {variant.weightType === 'fix' && <Badge>Fixed</Badge>}
      </span>
    ),
  },
  { id: 'payload', header: 'Payload', cell: (variant) => <PayloadText payload={variant.payload} /> },
  {
    id: 'overrides',
    header: 'Always for',
    cell: (variant) =>
      variant.overrides?.length ? (
        <span className="break">
          {variant.overrides.map((one) => `${one.contextName} ${one.values.slice(0, 5).join(', ')}${one.values.length > 5 ? ', …' : ''}`).join('; ')}
        </span>
      ) : (
        <span className="soft">–</span>
      ),
  },
]

const payloadName = (type: string) => (type === 'string' ? 'text' : type === 'number' ? type : type.toUpperCase())

function PayloadText({ payload }: { payload: Variant['payload'] }) {
  if (!payload) return <span className="soft">–</span>
  const text = payload.value.length > 80 ? `${payload.value.slice(0, 80)}…` : payload.value
  return (
    <span className="row">
      <code className="break">{text}</code>
      <span className="soft small">{payloadName(payload.type)}</span>
    </span>
  )
}

function EnvironmentVariants({ flag, environment, onEdit }: { flag: Flag; environment: FlagEnvironment; onEdit: (copyFrom?: Variant[]) => void }) {
  const reason = useReasons(flag)('UPDATE_FEATURE_ENVIRONMENT_VARIANTS', environment.name)
  const others = flag.environments.filter((one) => one.name !== environment.name && one.variants.length > 0)
  const own = environment.strategies.filter((strategy) => strategy.variants.length > 0 && !strategy.disabled)
  const empty = environment.variants.length === 0
  const heading = useId()
  return (
    <section className="stack-s" aria-labelledby={heading}>
      <div className="row-apart">
        <h2 id={heading} className="row break">
          {environment.name}
          <UnnamedProduction {...environment} />
        </h2>
        <div className="row">
          {empty &&
            others.map((other) => (
              <Button key={other.name} size="small" icon={<Icons.Copy />} disabledReason={reason} onClick={() => onEdit(other.variants)}>
                Copy from {other.name}
              </Button>
            ))}
          <Button
            size="small"
            icon={empty ? <Icons.Plus /> : <Icons.Edit />}
            disabledReason={reason}
            onClick={() => onEdit()}
            aria-label={`${empty ? 'Add' : 'Edit'} variants in ${environment.name}`}
          >
            {empty ? 'Add variants' : 'Edit'}
          </Button>
        </div>
      </div>
      {own.length > 0 && (
        <p className="soft">
          {own.length === 1
            ? 'A strategy here has variants of its own, which come first.'
            : `${own.length} strategies here have variants of their own, which come first.`}
        </p>
      )}
      {!empty && (
        <>
          <WeightParts variants={environment.variants} />
          <Table
            cards
            label={`Variants in ${environment.name}`}
            columns={columnsOf(environment.variants)}
            rows={environment.variants}
            rowKey={(variant) => variant.name}
          />
        </>
      )}
    </section>
  )
}
