import { More } from '../ui/popover'
import './constraints.css'
import { describeDate } from './describe'
import { canIgnoreCase, kindOf, phraseOf, takesList, type Constraint } from './operators'

/** How many values a constraint shows. */
const shownValues = 10

/** Constraints to read: field, comparison, values. */
export function ConstraintSummary({ constraints }: { constraints: readonly Constraint[] }) {
  return (
    <ul className="stack-s">
      {constraints.map((constraint, index) => (
        <li key={index} className="constraint-line">
          {index > 0 && <span className="soft">and</span>}
          <span className="strong break">{constraint.contextName}</span>
          <span>{phraseOf(constraint)}</span>
          {valuesOf(constraint)
            .slice(0, shownValues)
            .map((value, position) => (
              <span key={position} className="chip">
                <span className="break">{value === '' ? <em>empty</em> : value}</span>
              </span>
            ))}
          <More values={valuesOf(constraint).slice(shownValues)} label={`More values of ${constraint.contextName}`} />
          {constraint.caseInsensitive && canIgnoreCase(constraint.operator) && <span className="soft">ignoring case</span>}
        </li>
      ))}
    </ul>
  )
}

function valuesOf(constraint: Constraint): string[] {
  if (takesList(constraint.operator)) return constraint.values
  const value = constraint.value ?? ''
  return [kindOf(constraint.operator) === 'date' ? describeDate(value) : value]
}
