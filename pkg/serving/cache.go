package serving

import (
	"container/list"
	"crypto/sha256"
	"sync"
	"weak"
)

// maxCache is the maximum size in bytes of the answers that one instance keeps.
const maxCache = 64 << 20

// A cachedAnswer is the answer of a selection, in one state.
type cachedAnswer struct {
	mu    sync.Mutex // held while it is made, so that requests for the same answer make it once
	state weak.Pointer[State]
	etag  string
	plain body // empty until it is requested
	gzip  body // for callers that accept gzip; plain if it is short
}

func (a *cachedAnswer) size() int {
	const overhead = 512 // of the entry, and of the list and map that it is in
	return overhead + cap(a.plain.bytes) + cap(a.gzip.bytes)
}

// A cache keeps the answers that were requested last. Its size in bytes is bounded, so that requests for many different
// answers cannot fill the memory.
type cache struct {
	mu    sync.Mutex
	max   int
	size  int
	order *list.List // of *cacheEntry, the last used first
	byKey map[[sha256.Size]byte]*list.Element
}

type cacheEntry struct {
	key    [sha256.Size]byte
	answer *cachedAnswer
	size   int
}

func newCache(bytes int) *cache {
	return &cache{max: bytes, order: list.New(), byKey: map[[sha256.Size]byte]*list.Element{}}
}

// get returns the answer of a key, a new one if there is none.
func (c *cache) get(key [sha256.Size]byte) *cachedAnswer {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found := c.byKey[key]; found != nil {
		c.order.MoveToFront(found)
		return found.Value.(*cacheEntry).answer
	}
	answer := &cachedAnswer{}
	entry := &cacheEntry{key: key, answer: answer, size: answer.size()}
	c.byKey[key] = c.order.PushFront(entry)
	c.size += entry.size
	c.shrink()
	return answer
}

// resize notes that the size of an answer changed. An answer that is larger than the whole cache is not kept. The caller holds
// the lock of the answer.
func (c *cache) resize(key [sha256.Size]byte, answer *cachedAnswer) {
	size := answer.size()
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.byKey[key]
	if found == nil {
		return
	}
	if entry := found.Value.(*cacheEntry); entry.answer == answer {
		c.size += size - entry.size
		entry.size = size
		c.shrink()
	}
}

// shrink drops the answers that were not used for the longest time.
func (c *cache) shrink() {
	for c.size > c.max {
		last := c.order.Back()
		entry := c.order.Remove(last).(*cacheEntry)
		delete(c.byKey, entry.key)
		c.size -= entry.size
	}
}
