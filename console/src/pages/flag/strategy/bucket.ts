/** The place of an ID in a rollout, from 1 to 100: the ID gets the flag if its place is at most the percentage. All SDKs compute it so. */
export function bucket(groupId: string, id: string): number {
  return (murmur3(new TextEncoder().encode(`${groupId}:${id}`)) % 100) + 1
}

/** MurmurHash3 with 32 bits and the seed 0. */
function murmur3(bytes: Uint8Array): number {
  let hash = 0
  const blocks = bytes.length - (bytes.length % 4)
  for (let i = 0; i < blocks; i += 4) {
    const block = byte(bytes, i) | (byte(bytes, i + 1) << 8) | (byte(bytes, i + 2) << 16) | (byte(bytes, i + 3) << 24)
    hash = Math.imul(rotate(hash ^ mix(block), 13), 5) + 0xe6546b64
  }
  const rest = byte(bytes, blocks) | (byte(bytes, blocks + 1) << 8) | (byte(bytes, blocks + 2) << 16)
  hash ^= mix(rest) ^ bytes.length
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

const byte = (bytes: Uint8Array, index: number) => bytes[index] ?? 0
const rotate = (value: number, by: number) => (value << by) | (value >>> (32 - by))
const mix = (block: number) => Math.imul(rotate(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593)
