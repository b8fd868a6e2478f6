import { percentOf, type Variant } from './model'

/** Variants as a bar with a legend: each part is as wide as its share. */
export function WeightBar({ variants, label }: { variants: readonly Pick<Variant, 'name' | 'weight'>[]; label: string }) {
  return (
    <div className="weights">
      <div className="weight-bar" aria-hidden="true">
        {variants.map((variant, index) => (
          <span key={index} className={`weight-part weight-${index % 6}`} style={{ width: `${variant.weight / 10}%` }} />
        ))}
      </div>
      <ul className="row weight-legend" aria-label={label}>
        {variants.slice(0, shown).map((variant, index) => (
          <li key={index} className="row">
            <span className={`weight-dot weight-${index % 6}`} aria-hidden="true" />
            <span className="break">{variant.name || 'unnamed'}</span>
            <span className="soft number">{percentOf(variant.weight)}</span>
          </li>
        ))}
        {variants.length > shown && <li className="soft">and {variants.length - shown} more</li>}
      </ul>
    </div>
  )
}

const shown = 20
