// Changes of many flags: batches for the bulk requests, with the flags that were changed and those that were not.
import { ApiError, errorText } from '../../api'

/** A flag that was not changed, and why. */
export interface Failure {
  name: string
  message: string
}

/** Failures with the same reason, most flags first. The name of a flag in its message is not part of the reason. */
export function groupFailures(failures: readonly Failure[]): { message: string; names: string[] }[] {
  const groups = new Map<string, Failure[]>()
  for (const failure of failures) {
    const reason = failure.message.replaceAll(`flag "${failure.name}"`, 'the flag')
    groups.set(reason, [...(groups.get(reason) ?? []), failure])
  }
  return [...groups]
    .map(([reason, same]) => ({ message: errorText(new Error(same.length === 1 ? same[0]!.message : reason)), names: same.map(({ name }) => name) }))
    .sort((a, b) => b.names.length - a.names.length)
}

/** What a change of many flags did. */
export interface BulkResult {
  done: string[]
  failed: Failure[]
}

/** The flags that one bulk request takes. */
export const batchSize = 100

/** Sends names in batches, one after the other. It stops at an error that names no flags, such as a missing permission. */
export async function inBatches(
  names: readonly string[],
  send: (batch: string[]) => Promise<unknown>,
  onProgress: (finished: number) => void = () => {},
  stopped: () => boolean = () => false,
): Promise<BulkResult> {
  const result: BulkResult = { done: [], failed: [] }
  for (let from = 0; from < names.length && !stopped(); from += batchSize) {
    const batch = names.slice(from, from + batchSize)
    let failures: Failure[] = []
    try {
      await send(batch)
    } catch (error) {
      const found = failuresOf(error, batch)
      if (!found) {
        result.failed.push(...names.slice(from).map((name) => ({ name, message: errorText(error) })))
        return result
      }
      failures = found
    }
    const failed = new Set(failures.map(({ name }) => name))
    result.done.push(...batch.filter((name) => !failed.has(name)))
    result.failed.push(...failures)
    onProgress(Math.min(names.length, from + batchSize))
  }
  return result
}

/** The flags that the error of a bulk request names by their position (/features/3); undefined if it names none, or the time ran out. */
export function failuresOf(error: unknown, batch: readonly string[]): Failure[] | undefined {
  if (!(error instanceof ApiError) || error.status >= 500 || error.details.length === 0) return undefined
  const failures: Failure[] = []
  for (const { path, message } of error.details) {
    const name = batch[Number(/^\/features\/(\d+)$/.exec(path ?? '')?.[1])]
    if (name === undefined) return undefined
    failures.push({ name, message })
  }
  return failures
}

const parallel = 4

/** Sends one request for each name, a few at a time. */
export async function oneByOne(
  names: readonly string[],
  send: (name: string) => Promise<unknown>,
  onProgress: (finished: number) => void = () => {},
  stopped: () => boolean = () => false,
): Promise<BulkResult> {
  const result: BulkResult = { done: [], failed: [] }
  let next = 0
  const work = async () => {
    while (next < names.length && !stopped()) {
      const name = names[next++]!
      try {
        await send(name)
        result.done.push(name)
      } catch (error) {
        result.failed.push({ name, message: errorText(error) })
      }
      onProgress(result.done.length + result.failed.length)
    }
  }
  await Promise.all(Array.from({ length: Math.min(parallel, names.length) }, work))
  return result
}

/** Throws if some flags were not changed, with the first reason: for an Undo. */
export function expectAll({ failed }: BulkResult): void {
  if (failed.length > 0) throw new Error(`${failed.length} flags were not changed; ${failed[0]!.name}: ${failed[0]!.message}`)
}
