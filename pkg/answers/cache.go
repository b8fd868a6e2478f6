package answers

import (
	"container/list"
	"crypto/sha256"
	"sync"
	"weak"
)

// maxCache is the maximum size in bytes of the responses that a Responder keeps.
const maxCache = 64 << 20

// A cachedResponse is the response to a selection, from one Set.
type cachedResponse struct {
	mu    sync.Mutex // held while it is made, so that requests for the same response make it once
	set   weak.Pointer[Set]
	etag  string
	plain body // empty until it is requested
	gzip  body // for callers that accept gzip; plain if it is short
}

func (a *cachedResponse) size() int {
	const overhead = 512 // of the entry, and of the list and map that it is in
	return overhead + cap(a.plain.bytes) + cap(a.gzip.bytes)
}

// A cache keeps the responses that were requested last. Its size in bytes is bounded, so that requests for many different
// responses cannot fill the memory.
type cache struct {
	mu    sync.Mutex
	max   int
	size  int
	order *list.List // of *cacheEntry, the last used first
	byKey map[[sha256.Size]byte]*list.Element
}

type cacheEntry struct {
	key      [sha256.Size]byte
	response *cachedResponse
	size     int
}

func newCache(bytes int) *cache {
	return &cache{max: bytes, order: list.New(), byKey: map[[sha256.Size]byte]*list.Element{}}
}

// get returns the response of a key, a new one if there is none.
func (c *cache) get(key [sha256.Size]byte) *cachedResponse {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found := c.byKey[key]; found != nil {
		c.order.MoveToFront(found)
		return found.Value.(*cacheEntry).response
	}
	response := &cachedResponse{}
	entry := &cacheEntry{key: key, response: response, size: response.size()}
	c.byKey[key] = c.order.PushFront(entry)
	c.size += entry.size
	c.shrink()
	return response
}

// resize notes that the size of a response changed. A response that is larger than the whole cache is not kept. The caller holds
// the lock of the response.
func (c *cache) resize(key [sha256.Size]byte, response *cachedResponse) {
	size := response.size()
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.byKey[key]
	if found == nil {
		return
	}
	if entry := found.Value.(*cacheEntry); entry.response == response {
		c.size += size - entry.size
		entry.size = size
		c.shrink()
	}
}

// shrink drops the responses that were not used for the longest time.
func (c *cache) shrink() {
	for c.size > c.max {
		last := c.order.Back()
		entry := c.order.Remove(last).(*cacheEntry)
		delete(c.byKey, entry.key)
		c.size -= entry.size
	}
}
