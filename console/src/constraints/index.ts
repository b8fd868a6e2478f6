// Constraints of strategies and segments: the editor, the summary and the sentence.
export { ConstraintList } from './list'
export { ConstraintSummary } from './summary'
export { describeConstraint, describeConstraints } from './describe'
export { newConstraint, splitValues, toRequest } from './edit'
export { isRecent, type Constraint, type Operator } from './operators'
