import { changeSentence, type ValueChange } from '../words/sentence'
import { Diff } from './diffview'
import { More } from './popover'
import { useState, type ReactNode } from 'react'

const shownValues = 3

/** One change in words. The values that a long list gained and lost open beside it. */
export function ChangeText({ change }: { change: ValueChange }) {
  const { added = [], removed = [] } = change
  const short = { ...change, added: change.added && added.slice(0, shownValues), removed: change.removed && removed.slice(0, shownValues) }
  const rest = [...added.slice(shownValues).map((value) => `added ${value}`), ...removed.slice(shownValues).map((value) => `removed ${value}`)]
  return (
    <>
      {changeSentence(short)} <More values={rest} label="All values" />
    </>
  )
}

interface ChangesProps {
  /** What changes, a sentence each. */
  changes?: readonly ValueChange[]
  sentences?: readonly ReactNode[]
  /** How many are shown until a click shows the rest. */
  limit?: number
  /** Both states, folded as JSON; open if no sentence says what changes. Leave both out if there is nothing that the sentences do not say. */
  before?: unknown
  after?: unknown
  label?: string
  open?: boolean
}

/** A change in words, with both states as JSON folded below it. */
export function Changes({ changes = [], sentences = [], limit = Infinity, before, after, label = 'Both states as JSON', open }: ChangesProps) {
  const [all, setAll] = useState(false)
  const lines = [...sentences, ...changes.map((change, index) => <ChangeText key={index} change={change} />)]
  const more = all ? 0 : lines.length - limit
  return (
    <div className="stack-s">
      {lines.length > 0 && (
        <ul className="changes">
          {lines.slice(0, all ? undefined : limit).map((line, index) => (
            <li key={index} className="break">
              {line}
            </li>
          ))}
          {more > 0 && (
            <li>
              <button type="button" className="more" onClick={() => setAll(true)}>
                and {more} more
              </button>
            </li>
          )}
        </ul>
      )}
      {(before !== undefined || after !== undefined) && (
        <details className="fold" open={open ?? lines.length === 0}>
          <summary>JSON</summary>
          <Diff before={before} after={after} label={label} />
        </details>
      )}
    </div>
  )
}
