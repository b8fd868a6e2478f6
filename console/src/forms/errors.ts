import { ApiError, errorText } from '../api/errors'

/** Errors of a form: by JSON pointer into the body of the request, and those that name no part of it. */
export interface FormErrors {
  byPointer: Record<string, string>
  general: string[]
}

/** Sorts the error of the server into fields. nameAt is the pointer of the field that shows 409 NameExistsError. */
export function collectErrors(error: unknown, nameAt?: string): FormErrors {
  if (!(error instanceof ApiError)) return { byPointer: {}, general: [errorText(error)] }
  if (error.name === 'NameExistsError' && nameAt) return { byPointer: { [nameAt]: errorText(error) }, general: [] }
  const byPointer: Record<string, string> = {}
  const general: string[] = []
  for (const detail of error.details) {
    const text = sentence(detail.message)
    if (!detail.path) general.push(text)
    else byPointer[detail.path] = byPointer[detail.path] ? `${byPointer[detail.path]} ${text}` : text
  }
  if (error.details.length === 0) general.push(errorText(error))
  return { byPointer, general }
}

// The server writes "is required": at a field it reads "Is required."
function sentence(text: string): string {
  const upper = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?]$/.test(upper) ? upper : `${upper}.`
}
