package dynamo

import (
	"sync"

	"guidon/pkg/flags"
)

// maxDecoded and maxDecodedDocument limit how many decoded aggregates are kept, and the length of their documents in bytes.
const (
	maxDecoded         = 256
	maxDecodedDocument = 16 << 10
)

// A decodedCache keeps the decoded form of aggregates that nearly every request reads and that seldom change, such as the token
// of the caller. It saves no read: each request reads the items, and one that has changed is decoded again. Callers of Load
// share the aggregates, so they must not modify them.
type decodedCache struct {
	mutex sync.Mutex
	kept  map[itemKey]decodedItem
}

type decodedItem struct {
	envelope
	aggregate flags.Aggregate
}

// decode decodes an item of an entity, or returns what the same item was decoded to before.
func (c *decodedCache) decode(entity *entity, e envelope) (flags.Aggregate, error) {
	if !entity.kept || len(e.Document) > maxDecodedDocument {
		return entity.decode(e)
	}
	key := itemKey{e.PK, e.SK}
	if known, found := c.find(key); found && known.Document == e.Document && known.Version == e.Version {
		return known.aggregate, nil
	}
	a, err := entity.decode(e)
	if err == nil {
		c.keep(key, decodedItem{e, a})
	}
	return a, err
}

func (c *decodedCache) find(key itemKey) (decodedItem, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	item, found := c.kept[key]
	return item, found
}

// keep starts again with an empty cache when it is full.
func (c *decodedCache) keep(key itemKey, item decodedItem) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.kept == nil || len(c.kept) >= maxDecoded {
		c.kept = map[itemKey]decodedItem{}
	}
	c.kept[key] = item
}
