package dynamo

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"guidon/pkg/flags"
)

// A change puts an entry into the outbox of each addon that matches one of its events, in its own transaction. The entry
// refers to the event, which is never deleted, so it is small even if the event is large. If the entries of a change with many events are too
// many for the transaction, an addon gets one item for all of them, which is unfolded before any of them is sent.
//
// An entry is moved by a transaction without conditions, which may be repeated: it deletes the entry in one place and puts it
// into another. Only the holder of the addon's lease moves entries out of the outbox. If a lease ends while its holder still
// sends, an entry can be sent twice, or come back after it was resent: it is sent at least once.

// planOutbox adds an entry for each event and each addon that sends it.
func (s *Store) planOutbox(tx *transaction, addons *flags.Addons, events []loggedEvent) error {
	if addons == nil {
		return nil
	}
	var docs []outboxDocument
	for _, event := range events {
		for _, id := range addons.Matching(event.Event) {
			docs = append(docs, outboxDocument{Format: format, Addon: id, outboxRef: outboxRef{event.ID, event.key().pk, event.version()}})
		}
	}
	if len(tx.errors)+len(docs)+mostFeedItems > maxTransaction {
		docs = fold(docs)
	}
	for _, doc := range docs {
		item, err := doc.item(outboxPrefix, outboxExpiry().Unix())
		if err != nil {
			return internalError(err)
		}
		if err := s.put(tx, item, absent, versionConflict); err != nil {
			return err
		}
	}
	tx.outbox = len(docs)
	return nil
}

// fold makes one document of all those of an addon.
func fold(docs []outboxDocument) (folded []outboxDocument) {
	place := map[int64]int{}
	for _, doc := range docs {
		i, found := place[doc.Addon]
		if !found {
			place[doc.Addon] = len(folded)
			folded = append(folded, doc)
			continue
		}
		folded[i].Also = append(folded[i].Also, doc.outboxRef)
	}
	return folded
}

// unfold replaces an item by one for each of its entries, unless that has been done: one call.
func (s *Store) unfold(ctx context.Context, e storedEntry) error {
	input := &dynamodb.TransactWriteItemsInput{}
	condition := expression.Name("doc").Equal(expression.Value(e.item.Document)) // of the first, which has the key of the item
	for _, doc := range e.doc.unfolded() {
		item, err := doc.item(outboxPrefix, e.item.TTL)
		if err != nil {
			return internalError(err)
		}
		put, err := s.putOf(item, condition)
		if err != nil {
			return err
		}
		input.TransactItems = append(input.TransactItems, types.TransactWriteItem{Put: put})
		condition = always
	}
	_, err := s.transact(ctx, input)
	return err // none if the item was unfolded before
}

func outboxExpiry() time.Time { return time.Now().Add(flags.OutboxKept) }

// Outbox reads a page of an addon's outbox: one call. It ends the page before an item with several entries, which it unfolds.
func (s *Store) Outbox(ctx context.Context, addon int64, after string, limit int) (entries []flags.OutboxEntry, more bool, err error) {
	list, more, err := s.queryOutbox(ctx, outboxPrefix, addon, after, limit, true)
	if err != nil {
		return nil, false, err
	}
	if i := slices.IndexFunc(list, func(e storedEntry) bool { return len(e.doc.Also) > 0 }); i >= 0 {
		if err := s.unfold(ctx, list[i]); err != nil {
			return nil, false, err
		}
		list, more = list[:i], true
	}
	deliveries, err := deliveriesOf(list)
	return entriesOf(deliveries), more, err
}

// Parked reads a page of the parked entries: one call.
func (s *Store) Parked(ctx context.Context, addon int64, limit int) (entries []flags.OutboxEntry, more bool, err error) {
	list, more, err := s.queryOutbox(ctx, parkedPrefix, addon, "", limit, true)
	if err != nil {
		return nil, false, err
	}
	deliveries, err := deliveriesOf(list)
	return entriesOf(deliveries), more, err
}

func entriesOf(list []flags.Delivery) []flags.OutboxEntry {
	return convert(list, func(d flags.Delivery) flags.OutboxEntry { return d.OutboxEntry })
}

// Deliveries reads the waiting, parked and delivered entries, or one of them: one call for each.
func (s *Store) Deliveries(ctx context.Context, addon int64, which flags.WhichDeliveries, limit int) ([]flags.Delivery, error) {
	prefixes := map[flags.WhichDeliveries][]string{
		flags.AllDeliveries:  {outboxPrefix, parkedPrefix, deliveredPrefix},
		flags.SentDeliveries: {deliveredPrefix}, flags.ParkedDeliveries: {parkedPrefix}, flags.WaitingDeliveries: {outboxPrefix},
	}
	var all []flags.Delivery
	for _, prefix := range prefixes[which] {
		page, _, err := s.queryOutbox(ctx, prefix, addon, "", limit, prefix == outboxPrefix)
		if err != nil {
			return nil, err
		}
		deliveries, err := deliveriesOf(page)
		if err != nil {
			return nil, err
		}
		all = append(all, deliveries...)
	}
	slices.SortStableFunc(all, func(a, b flags.Delivery) int { return strings.Compare(b.ID, a.ID) })
	return all[:min(limit, len(all))], nil
}

// A storedEntry is an item of an outbox as it was read, and what is in it.
type storedEntry struct {
	item outboxItem
	doc  outboxDocument
}

// queryOutbox reads items of a partition, in the order of their IDs or against it.
func (s *Store) queryOutbox(ctx context.Context, prefix string, addon int64, after string, limit int, ascending bool) (list []storedEntry, more bool, err error) {
	q := itemQuery{pk: outboxKey(prefix, addon, "").pk, limit: max(1, min(limit, flags.MaxOutboxPage)), descending: !ascending}
	if after != "" {
		q.first = after + "\x00" // the first key after it
	}
	items, more, err := queryPage[outboxItem](ctx, s, q)
	if err != nil {
		return nil, false, err
	}
	for _, item := range items {
		e := storedEntry{item: item}
		if err := decode(item.Document, &e.doc); err != nil {
			return nil, false, internalError(err)
		}
		list = append(list, e)
	}
	return list, more, nil
}

// deliveriesOf expands items.
func deliveriesOf(list []storedEntry) (deliveries []flags.Delivery, err error) {
	for _, e := range list {
		for _, doc := range e.doc.unfolded() {
			d, err := doc.delivery()
			if err != nil {
				return nil, internalError(err)
			}
			deliveries = append(deliveries, d)
		}
	}
	return deliveries, nil
}

// OutboxEvents reads the events of entries: one call for 100 events, and one for 100 bodies.
func (s *Store) OutboxEvents(ctx context.Context, entries []flags.OutboxEntry) (map[string]flags.Event, error) {
	events := make(map[string]flags.Event, len(entries))
	var keys []itemKey
	for _, e := range entries {
		if e.Test != nil {
			events[e.ID] = *e.Test
		} else {
			keys = append(keys, itemKey{e.Subject, eventSortKey(e.Version)})
		}
	}
	var items []eventItem
	err := batchGet(ctx, s, flags.Distinct(keys), true, func(item eventItem) error {
		items = append(items, item)
		return nil
	})
	if err != nil {
		return nil, err
	}
	bodies, err := s.bodies(ctx, items)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		event, err := item.event(bodies)
		if err != nil {
			return nil, internalError(err)
		}
		events[event.ID] = event
	}
	return events, nil
}

// PutOutbox puts an entry into the outbox: one call.
func (s *Store) PutOutbox(ctx context.Context, entry flags.OutboxEntry) error {
	item, err := newOutboxItem(outboxPrefix, flags.Delivery{OutboxEntry: entry}, outboxExpiry())
	if err != nil {
		return internalError(err)
	}
	_, err = s.putIf(ctx, item, always)
	return err
}

// Failed stores the failed attempts of an entry: one call.
func (s *Store) Failed(ctx context.Context, entry flags.OutboxEntry) error {
	return s.PutOutbox(ctx, entry)
}

// Delivered moves an entry to the delivered ones: one call.
func (s *Store) Delivered(ctx context.Context, entry flags.OutboxEntry, at time.Time, detail string) error {
	entry.Error, entry.Next, entry.Busy = "", time.Time{}, time.Time{}
	d := flags.Delivery{OutboxEntry: entry, At: at, Detail: detail}
	return s.moveOutbox(ctx, outboxPrefix, deliveredPrefix, at.Add(flags.DeliveredKept), d)
}

// Park moves an entry to the parked ones: one call.
func (s *Store) Park(ctx context.Context, entry flags.OutboxEntry, at time.Time) error {
	entry.Next, entry.Busy = time.Time{}, time.Time{}
	d := flags.Delivery{OutboxEntry: entry, Parked: true, At: at}
	return s.moveOutbox(ctx, outboxPrefix, parkedPrefix, at.Add(flags.DeliveredKept), d)
}

// Resend moves parked entries to the outbox: one call for 50.
func (s *Store) Resend(ctx context.Context, entries []flags.OutboxEntry) error {
	for chunk := range slices.Chunk(entries, maxTransaction/2) {
		var moved []flags.Delivery
		for _, e := range chunk {
			e.Attempts, e.Next, e.Busy, e.Error = 0, time.Time{}, time.Time{}, ""
			moved = append(moved, flags.Delivery{OutboxEntry: e})
		}
		if err := s.moveOutbox(ctx, parkedPrefix, outboxPrefix, outboxExpiry(), moved...); err != nil {
			return err
		}
	}
	return nil
}

// moveOutbox deletes entries in one partition and puts them into another, in one transaction.
func (s *Store) moveOutbox(ctx context.Context, from, to string, expires time.Time, list ...flags.Delivery) error {
	input := &dynamodb.TransactWriteItemsInput{}
	for _, d := range list {
		item, err := newOutboxItem(to, d, expires)
		if err != nil {
			return internalError(err)
		}
		put, err := s.putOf(item, always)
		if err != nil {
			return err
		}
		input.TransactItems = append(input.TransactItems,
			types.TransactWriteItem{Delete: &types.Delete{TableName: &s.table, Key: outboxKey(from, d.Addon, d.ID).attributes()}},
			types.TransactWriteItem{Put: put})
	}
	_, err := s.transact(ctx, input)
	return err
}

// TakeAddonLease takes the lease of an addon: one call.
func (s *Store) TakeAddonLease(ctx context.Context, addon int64, holder string, now, until time.Time) (bool, error) {
	return s.takeLease(ctx, addonLeaseKey(addon), holder, now, until)
}
