import { diffLines } from './diff'
import './diff.css'

/** The difference of two JSON values, with unchanged lines around each change. */
export function Diff({ before, after, label = 'Changes' }: { before: unknown; after: unknown; label?: string }) {
  const lines = diffLines(before, after)
  if (lines.every((line) => line.kind === 'same')) return <p className="soft">No difference.</p>
  const near = (index: number) => lines.slice(Math.max(0, index - context), index + context + 1).some((line) => line.kind !== 'same')
  return (
    <div className="diff" tabIndex={0} role="region" aria-label={label}>
      {lines.map((line, index) => {
        if (!near(index))
          return index === 0 || near(index - 1) ? (
            <div key={index} className="diff-gap">
              ⋯
            </div>
          ) : null
        return (
          <div key={index} className={`diff-line diff-${line.kind}`}>
            <span className="diff-sign">{line.kind === 'added' ? '+' : line.kind === 'removed' ? '−' : ' '}</span>
            {line.kind !== 'same' && <span className="visually-hidden">{line.kind}: </span>}
            <span>{line.text}</span>
          </div>
        )
      })}
    </div>
  )
}

/** A JSON value that is compared with nothing, below its label. */
export function Value({ value, label }: { value: unknown; label: string }) {
  return (
    <>
      <p className="soft small">{label}:</p>
      <div className="diff" tabIndex={0} role="region" aria-label={label}>
        {diffLines(value, value).map(({ text }, index) => (
          <div key={index} className="diff-line">
            <span className="diff-sign" />
            <span>{text}</span>
          </div>
        ))}
      </div>
    </>
  )
}

const context = 3
