import type { ReactNode } from 'react'
import { Diff } from './diffview'
import { plural } from './format'

interface ChangesProps {
  /** What changes, a sentence each: changeSentences of src/words. */
  sentences: readonly ReactNode[]
  /** How many changes have no sentence. */
  more?: number
  /** Both states, folded as JSON. Leave both out if there is nothing that the sentences do not say. */
  before?: unknown
  after?: unknown
  label?: string
}

/** A change in words, with both states as JSON folded below it. */
export function Changes({ sentences, more = 0, before, after, label = 'Both states as JSON' }: ChangesProps) {
  return (
    <div className="stack-s">
      {sentences.length > 0 && (
        <ul className="changes">
          {sentences.map((sentence, index) => (
            <li key={index} className="break">
              {sentence}
            </li>
          ))}
          {more > 0 && <li className="soft">and {plural(more, 'other change')}</li>}
        </ul>
      )}
      {(before !== undefined || after !== undefined) && (
        <details className="fold">
          <summary>JSON</summary>
          <Diff before={before} after={after} label={label} />
        </details>
      )}
    </div>
  )
}
