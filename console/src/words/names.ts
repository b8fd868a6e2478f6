// The names of things that the API has constants and keys for, as people say them. No page has such a map of its own.
import { operatorName } from '../constraints/operators'

/** The built-in strategy types. */
const strategies: Record<string, string> = {
  default: 'Standard',
  flexibleRollout: 'Gradual rollout',
  userWithId: 'User IDs',
  remoteAddress: 'IP addresses',
  applicationHostname: 'Hosts',
  gradualRolloutRandom: 'Random rollout',
  gradualRolloutSessionId: 'Rollout by sessionId',
  gradualRolloutUserId: 'Rollout by userId',
}

/** The name of a strategy type: 'Gradual rollout'. A type of one's own has the name that it was given. */
export const strategyName = (type: string) => strategies[type] ?? type

// Where the words of a key would not say it.
const fields: Record<string, string> = {
  IPs: 'IP addresses',
  userIds: 'User IDs',
  hostNames: 'Hosts',
  groupId: 'Group ID',
  rootRole: 'Role',
  isAPI: 'Token',
  impressionData: 'Impression data',
  disabled: 'Disabled',
  legalValues: 'Legal values',
  weightType: 'Kind of weight',
  contextName: 'Context field',
  caseInsensitive: 'Ignores case',
  tokenName: 'Token',
  appName: 'Application',
  updateStrategy: 'Strategy',
  addStrategy: 'New strategy',
  deleteStrategy: 'Removed strategy',
  updateEnabled: 'Switch',
  patchVariant: 'Variants',
  updateSegment: 'Segment',
  changeRequestEnabled: 'Change requests',
}

/** A key of the API as people say it: 'groupId' is 'Group ID', 'lastSeenAt' is 'Last seen at'. */
export function fieldName(key: string): string {
  if (fields[key]) return fields[key]
  if (!/^[a-z]+([A-Z][a-z]+)*$/.test(key)) return key
  const text = key.replace(/([A-Z])/g, ' $1').toLowerCase()
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** A text of the server with the constants of the API in words: operators and strategy types. */
export const inWords = (text: string) =>
  text
    .replace(/\b(?:NOT_IN|IN_CIDR|REGEX|(?:STR|NUM|DATE|SEMVER)_[A-Z_]+)\b/g, (operator) => operatorName(operator))
    .replace(/\b(?:flexibleRollout|userWithId|applicationHostname|gradualRollout(?:Random|SessionId|UserId))\b/g, (type) => `“${strategyName(type)}”`)
