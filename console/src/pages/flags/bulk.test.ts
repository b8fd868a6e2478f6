import { expect, it } from 'vitest'
import { ApiError } from '../../api'
import { batchSize, expectAll, failuresOf, groupFailures, inBatches, oneByOne } from './bulk'

const many = Array.from({ length: 250 }, (_, index) => `flag-${index}`)

const refused = (...indexes: number[]) =>
  new ApiError(
    409,
    'ConflictError',
    'Some flags could not be changed',
    indexes.map((index) => ({ path: `/features/${index}`, message: `reason ${index}` })),
  )

it('sends batches and tells the progress', async () => {
  const sizes: number[] = []
  const progress: number[] = []
  const result = await inBatches(
    many,
    async (batch) => sizes.push(batch.length),
    (finished) => progress.push(finished),
  )
  expect(sizes).toEqual([batchSize, batchSize, 50])
  expect(progress).toEqual([100, 200, 250])
  expect(result).toEqual({ done: many, failed: [] })
})

it('names the flags that failed and goes on with the others', async () => {
  const result = await inBatches(many, async (batch) => {
    if (batch[0] === 'flag-100') throw refused(0, 3)
  })
  expect(result.failed).toEqual([
    { name: 'flag-100', message: 'reason 0' },
    { name: 'flag-103', message: 'reason 3' },
  ])
  expect(result.done).toHaveLength(248)
  expect(result.done).not.toContain('flag-103')
})

it('stops at an error that names no flags', async () => {
  let calls = 0
  const result = await inBatches(many, async () => {
    if (++calls === 2) throw new ApiError(403, 'NoAccessError', 'you need the permission DELETE_FEATURE', [])
  })
  expect(calls).toBe(2)
  expect(result.done).toHaveLength(100)
  expect(result.failed).toHaveLength(150)
  expect(result.failed[0]).toEqual({ name: 'flag-100', message: 'You need the permission “Archive flags”.' })
  expect(() => expectAll(result)).toThrow('150 flags were not changed')
})

it('stops when it is told to', async () => {
  let stopped = false
  const result = await inBatches(
    many,
    async () => void (stopped = true),
    undefined,
    () => stopped,
  )
  expect(result.done).toHaveLength(100)
})

it('takes an error for one of flags only if all its details name one', () => {
  expect(failuresOf(refused(1), ['a', 'b'])).toEqual([{ name: 'b', message: 'reason 1' }])
  expect(failuresOf(refused(2), ['a', 'b'])).toBeUndefined()
  expect(failuresOf(new ApiError(400, 'ValidationError', 'wrong', [{ path: '/tags', message: 'wrong' }]), ['a'])).toBeUndefined()
  expect(failuresOf(new ApiError(503, 'Unavailable', 'out of time', [{ path: '/features/0', message: 'late' }]), ['a'])).toBeUndefined()
})

it('sends one request for each flag, and collects the failures', async () => {
  const result = await oneByOne(['a', 'b', 'c'], async (name) => {
    if (name === 'b') throw new Error('no')
  })
  expect(result.done.sort()).toEqual(['a', 'c'])
  expect(result.failed).toEqual([{ name: 'b', message: 'No.' }])
})

it('tells the same reason once, with the flags that it is about', () => {
  const failures = ['a', 'b', 'c'].map((name) => ({ name, message: `flag "${name}" has no strategies` }))
  expect(groupFailures([{ name: 'x', message: 'flag "x" is archived' }, ...failures])).toEqual([
    { message: 'The flag has no strategies.', names: ['a', 'b', 'c'] },
    { message: 'Flag "x" is archived.', names: ['x'] },
  ])
})
