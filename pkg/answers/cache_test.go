package answers

import (
	"fmt"
	"testing"
)

// TestCacheBound requests many different responses: the cache stays within its size, and keeps the responses that were used last.
func TestCacheBound(t *testing.T) {
	c := newCache(10_000)
	key := func(i int) (k [32]byte) { copy(k[:], fmt.Sprint(i)); return k }
	fill := func(i, bytes int) *cachedResponse {
		response := c.get(key(i))
		response.plain = body{bytes: make([]byte, bytes)}
		c.resize(key(i), response)
		return response
	}
	first := fill(0, 1000)
	for i := 1; i < 1000; i++ {
		fill(i, 100)
		if c.get(key(0)) != first {
			t.Fatalf("after %d: a response that is used all the time was dropped", i)
		}
		if c.size > 10_000 || c.order.Len() != len(c.byKey) || c.order.Len() > 20 {
			t.Fatalf("%d bytes, %d and %d entries", c.size, c.order.Len(), len(c.byKey))
		}
	}
	fill(1000, 20_000) // larger than the cache
	if c.size != 0 || c.order.Len() != 0 {
		t.Errorf("%d bytes, %d entries", c.size, c.order.Len())
	}
	dropped := c.get(key(1))
	fill(2, 20_000)
	c.resize(key(1), dropped) // no longer in it
	if c.size != 0 {
		t.Errorf("%d bytes", c.size)
	}
}
