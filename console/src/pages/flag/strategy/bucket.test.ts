import { describe, expect, test } from 'vitest'
import { bucket } from './bucket'

describe('bucket', () => {
  // The places that the server computes (package evaluate), by github.com/twmb/murmur3.
  test.each([
    ['new-checkout', '1', 56],
    ['new-checkout', '42', 74],
    ['gr1', '123', 73],
    ['g', 'äöü€', 50],
    ['', '', 31],
    ['abc', 'user@example.com', 85],
  ])('of %j and %j', (group, id, place) => {
    expect(bucket(group, id)).toBe(place)
  })
})
