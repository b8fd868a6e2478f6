import { More } from '../../../ui'
import { percentOf, type Variant } from './model'

type Weighted = readonly Pick<Variant, 'name' | 'weight'>[]

/** Variants as a bar: each part is as wide as its share. */
export function WeightParts({ variants }: { variants: Weighted }) {
  return (
    <div className="weight-bar" aria-hidden="true">
      {variants.map((variant, index) => (
        <span key={index} className={`weight-part weight-${index % 6}`} style={{ width: `${variant.weight / 10}%` }} />
      ))}
    </div>
  )
}

/** The color of a variant in its bar. */
export const WeightDot = ({ index }: { index: number }) => <span className={`weight-dot weight-${index % 6}`} aria-hidden="true" />

/** Variants as a bar with a legend. */
export function WeightBar({ variants, label }: { variants: Weighted; label: string }) {
  return (
    <div className="weights">
      <WeightParts variants={variants} />
      <ul className="row weight-legend" aria-label={label}>
        {variants.slice(0, shown).map((variant, index) => (
          <li key={index} className="row">
            <WeightDot index={index} />
            <span className="break">{variant.name || 'unnamed'}</span>
            <span className="soft number">{percentOf(variant.weight)}</span>
          </li>
        ))}
        {variants.length > shown && (
          <li>
            <More values={variants.slice(shown).map(({ name, weight }) => `${name} ${percentOf(weight)}`)} label={label} />
          </li>
        )}
      </ul>
    </div>
  )
}

const shown = 20
