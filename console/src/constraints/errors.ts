/** The messages of the server by JSON pointer, as useForm has them in errors.byPointer. */
export type Errors = Readonly<Record<string, string>>

/** The message at a pointer. */
export const errorAt = (errors: Errors | undefined, pointer: string) => errors?.[pointer]

/** The message for a list: that of the list itself, and those of its values, each with the value that it is about. */
export function listError(errors: Errors | undefined, pointer: string, values: readonly string[]): string | undefined {
  if (!errors) return undefined
  const messages = errors[pointer] ? [errors[pointer]] : []
  for (const index of invalidValues(errors, pointer)) {
    messages.push(`${values[index] ?? `Value ${index + 1}`}: ${errors[`${pointer}/${index}`] ?? ''}`)
  }
  return messages.length ? messages.slice(0, 5).join(' ') : undefined
}

/** The indexes of the values that have messages. */
export function invalidValues(errors: Errors | undefined, pointer: string): number[] {
  return Object.keys(errors ?? {})
    .filter((path) => path.startsWith(`${pointer}/`))
    .map((path) => Number(path.slice(pointer.length + 1)))
    .filter((index) => Number.isInteger(index))
    .sort((a, b) => a - b)
}

/** The messages for whole constraints of a list, which no control of a constraint shows. */
export function constraintError(errors: Errors | undefined, pointer: string): string | undefined {
  const shown = ['/contextName', '/operator', '/value', '/values']
  const messages = Object.entries(errors ?? {})
    .filter(([path]) => path === pointer || path.startsWith(`${pointer}/`))
    .filter(([path]) => !shown.some((part) => path === pointer + part || path.startsWith(`${pointer}${part}/`)))
    .map(([, message]) => message)
  return messages.length ? messages.join(' ') : undefined
}
