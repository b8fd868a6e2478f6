package dynamo

import (
	"context"
	"strings"
	"time"

	"guidon/pkg/flags"
	"guidon/pkg/review"
)

// What is to happen at a time has an item in one partition, sorted by the time. It is written and deleted in the transaction of its
// aggregate, so there is one exactly as long as the aggregate waits for that time. Whoever does what is due asks for all items up to now: there
// is no cursor, so nothing is missed, however long nobody asked.

// dueLayout has the same length for every time, so that sort keys are in the order of time.
const dueLayout = "2006-01-02T15:04:05.000Z"

const duePartition = "DUE"

// dueKey is the key of the item for a scheduled change request; the zero key if it is not scheduled.
func dueKey(r *review.Request) itemKey {
	if r == nil {
		return itemKey{}
	}
	at, scheduled := r.Due()
	if !scheduled {
		return itemKey{}
	}
	return itemKey{duePartition, at.UTC().Format(dueLayout) + "#request#" + r.Key().ID}
}

// planDue moves the item if the time of a request has changed.
func (s *Store) planDue(tx *transaction, before, after *review.Request) error {
	from, to := dueKey(before), dueKey(after)
	if from == to {
		return nil
	}
	if from != (itemKey{}) {
		s.deleteAlways(tx, from)
	}
	if to == (itemKey{}) {
		return nil
	}
	return s.put(tx, envelope{PK: to.pk, SK: to.sk}, always, versionConflict)
}

// Due calls visit with the key of each change request that is due at a time, the longest due one first, until it returns false: one call per
// MB of items.
func (s *Store) Due(ctx context.Context, at time.Time, visit func(flags.Key) (goOn bool)) error {
	q := itemQuery{pk: duePartition, first: "0", last: at.UTC().Format(dueLayout) + "$", attributes: []string{"sk"}} // "$" comes after "#"
	return query(ctx, s, q, func(e envelope) (bool, error) {
		_, id, _ := strings.Cut(e.SK, "#request#")
		return visit(flags.Key{Entity: review.EntityRequest, ID: id}), nil
	})
}
