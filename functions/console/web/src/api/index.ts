export { api, send, wireOf, type ApiRequest, type Schema, type Versioned } from './client'
export { ApiError, OfflineError, errorText, isConflict, isForbidden, isNotFound, type ErrorDetail } from './errors'
export { apiKey, apiQuery, invalidate, refreshIn, useChange, versionedQuery, type ChangeOptions } from './query'
export { useMe, type Allowed } from './me'
