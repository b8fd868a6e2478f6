import { percentOf, weights, type VariantDraft } from './model'

const shownVariants = 10

/** What changes in variants, in one sentence: 'Variants: blue 50% → 30%, + green 20%, − red, payload of blue'; empty if nothing does. */
export function variantDifferences(before: readonly VariantDraft[], after: readonly VariantDraft[]): string[] {
  const [old, now] = [shares(before), shares(after)]
  const changes = [
    ...[...now].flatMap(([name, { share }]) => {
      const was = old.get(name)?.share
      return was === share ? [] : was === undefined ? `+ ${name} ${share}` : `${name} ${was} → ${share}`
    }),
    ...[...old.keys()].filter((name) => !now.has(name)).map((name) => `− ${name}`),
    ...[...now].flatMap(([name, { rest }]) => {
      const was = old.get(name)?.rest
      return was === undefined || was === rest ? [] : `${name} with other settings`
    }),
  ]
  if (changes.length === 0) return []
  const more = changes.length - shownVariants
  return [`Variants: ${changes.slice(0, shownVariants).join(', ')}${more > 0 ? ` and ${more} more` : ''}`]
}

// The percentage of each variant by its name, and what else a form edits: its payload, stickiness and overrides.
function shares(variants: readonly VariantDraft[]) {
  const all = weights(variants)
  return new Map(
    variants.map(({ name, payloadType, payload, stickiness, overrides }, index) => [
      name || '…',
      { share: percentOf(all[index] ?? 0), rest: JSON.stringify([payloadType, payloadType !== 'none' && payload, stickiness, overrides]) },
    ]),
  )
}
