import { fullDate } from '../ui/dates'
import { inWords } from '../words/names'
import { permissionText } from './permissions'

/** One entry of the details of an error of the server. path is a JSON pointer into the body of the request. */
export interface ErrorDetail {
  message: string
  path?: string
}

/** An error response of the server. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    override readonly name: string,
    message: string,
    readonly details: ErrorDetail[],
    /** Id of the error in the log of the server. */
    readonly id?: string,
  ) {
    super(message)
  }
}

/** The server could not be reached. */
export class OfflineError extends Error {
  override readonly name = 'OfflineError'
  constructor() {
    super('The server cannot be reached. Check your connection and try again.')
  }
}

/** Whether someone else has changed what was edited (If-Match). */
export const isConflict = (error: unknown) => error instanceof ApiError && error.status === 412
/** Whether the caller lacks a permission. */
export const isForbidden = (error: unknown) => error instanceof ApiError && error.status === 403
/** Whether the requested item does not exist. */
export const isNotFound = (error: unknown) => error instanceof ApiError && error.status === 404

/** The text of any error, with a capital letter and a period, as people read it: permissions and other constants are in words, and times in the chosen form. */
export function errorText(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  if (/ needs the permission ADMIN\b/.test(message)) return 'Only administrators can do this.'
  const text = inWords(message)
    .replace(/\b(permission )([A-Z]+(?:_[A-Z]+)*)\b/g, (_, before: string, permission: string) => before + permissionText(permission))
    .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z\b/g, (time) => fullDate(new Date(time)))
  // The name or address of a person stays as it is.
  const sentence = /^\S+(@| needs )/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`
}
