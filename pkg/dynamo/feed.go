package dynamo

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"guidon/pkg/flags"
)

// Every change of what applications see adds an entry to the feed, in its own transaction and without a condition, so that
// two changes never exclude each other. A transaction that is sent again adds no second entry, because its event, which is
// in the same transaction, exists already.
//
// The item of the feed must stay small, because every poll reads it and every change writes it. So its entries are in two
// lists. When the newer list, "recent", is long, a change turns the feed: the newer list becomes the older one, "earlier",
// and a new one begins with the change's entry. The entries that were in the older list get an item of their own, a page, which
// DynamoDB deletes after a week. The change needs the content of the older list for that. Only a turn changes that list, so
// the condition is that nothing has turned the feed since it was read.
//
// A change can turn the feed if it was loaded with it, which the caller does for some changes only: those that turn it at the
// same time fail on the condition, except one. The lengths keep the item at about 1 KB, since each change writes it, and its
// lists take time to read. At least the newest 10 to 30 entries are in the item: an instance that is polled every few seconds
// does not fall behind them.
const (
	longFeed = 300 // bytes of the newer list

	pagePrefix = "PAGE#"
	pageTTL    = 7 * 24 * time.Hour
)

// mostFeedItems are the feed and a page.
const mostFeedItems = 2

// planFeed adds the entry of a change to the feed. The feed as it was read is needed to turn it, and may be nil.
//
// It also has the condition that nothing has changed of what the change assumes about change requests.
func (s *Store) planFeed(tx *transaction, read *flags.Feed, assumed flags.ReviewAssumption) error {
	condition, failure := reviewsUnchanged(assumed)
	if len(tx.served) == 0 {
		return s.planReview(tx)
	}
	entry := formatEntry(tx.served)
	tx.bytes += len(entry)
	if read != nil && read.Size > longFeed && len(tx.errors)+mostFeedItems <= maxTransaction && tx.bytes+feedReserve <= maxTransactionBytes {
		return s.planTurn(tx, read, entry, condition, failure)
	}
	recent := expression.Name("recent")
	update := expression.Set(recent, expression.ListAppend(expression.IfNotExists(recent, expression.Value([]string{})), expression.Value([]string{entry}))).
		Add(expression.Name("n"), expression.Value(1)).Add(expression.Name("turn"), expression.Value(0))
	builder := expression.NewBuilder().WithUpdate(tx.setReview(update))
	if condition.IsSet() {
		builder = builder.WithCondition(condition)
	}
	return s.update(tx, feedKey, builder, failure)
}

// feedReserve is more than the sizes of the feed and of a page in a transaction.
const feedReserve = 32 << 10

// planTurn adds the entry as the first of a new list, and puts the entries of the older list into a page.
func (s *Store) planTurn(tx *transaction, read *flags.Feed, entry string, condition expression.ConditionBuilder, failure conditionError) error {
	tx.turns = true
	recent, turn := expression.Name("recent"), expression.Name("turn")
	unturned := turn.Equal(expression.Value(read.Turn))
	if condition.IsSet() {
		unturned = unturned.And(condition)
	}
	update := expression.Set(expression.Name("earlier"), recent).Set(recent, expression.Value([]string{entry})).
		Add(expression.Name("n"), expression.Value(1)).Add(turn, expression.Value(1))
	err := s.update(tx, feedKey, expression.NewBuilder().WithUpdate(tx.setReview(update)).WithCondition(unturned), failure)
	if err != nil {
		return err
	}
	older := read.Entries[:len(read.Entries)-read.Newer]
	if len(older) == 0 {
		return nil
	}
	page := envelope{PK: feedPartition, SK: pageSortKey(older[len(older)-1].Number)}
	page.TTL = time.Now().Add(pageTTL).Unix()
	for _, e := range older {
		page.Entries = append(page.Entries, e.Stored)
	}
	tx.bytes += sizeOfEntries(page.Entries)
	return s.put(tx, page, always, versionConflict)
}

// pageSortKey is the sort key of the page whose last entry has that number.
func pageSortKey(last int64) string { return fmt.Sprintf("%s%012d", pagePrefix, last) }

// FeedPages reads the pages of the feed that have entries after a number: one call per MB.
func (s *Store) FeedPages(ctx context.Context, number int64) ([]flags.FeedEntry, error) {
	var entries []flags.FeedEntry
	q := itemQuery{pk: feedPartition, first: pageSortKey(number + 1), last: pageSortKey(maxVersion)}
	err := query(ctx, s, q, func(e envelope) (bool, error) {
		last, err := strconv.ParseInt(strings.TrimPrefix(e.SK, pagePrefix), 10, 64)
		if err != nil {
			return false, err
		}
		list, err := parseEntries(last, e.Entries)
		for _, entry := range list {
			if entry.Number > number {
				entries = append(entries, entry)
			}
		}
		return true, err
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// ResetFeed begins a new epoch of the feed: one call. The number rises too, so that the pages of the epoch before are not taken for
// those of the new one.
func (s *Store) ResetFeed(ctx context.Context, epoch string) error {
	one := expression.Value(1)
	_, _, err := s.updateIf(ctx, feedKey, expression.NewBuilder().WithUpdate(
		expression.Set(expression.Name("epoch"), expression.Value(epoch)).
			Set(expression.Name("table"), expression.Value(s.table)).Set(expression.Name("form"), expression.Value(flags.SnapshotForm)).
			Set(expression.Name("earlier"), expression.Value([]string{})).Set(expression.Name("recent"), expression.Value([]string{})).
			Add(expression.Name("n"), one).Add(expression.Name("turn"), one)))
	return err // whether it was reset does not matter: it is to be called again
}

// StartFeed begins the feed of a new table, with the version of the stored forms; its first epoch is "". Of any other table it checks that
// version: one call, two for a table that has a feed.
func (s *Store) StartFeed(ctx context.Context) error {
	_, exists, err := s.updateIf(ctx, feedKey, expression.NewBuilder().WithCondition(absent).WithUpdate(
		expression.Set(expression.Name("table"), expression.Value(s.table)).Set(expression.Name("format"), expression.Value(format)).
			Add(expression.Name("turn"), expression.Value(0))))
	if err != nil || !exists {
		return err
	}
	view, err := s.Load(ctx, []flags.Key{flags.FeedKey()})
	if err != nil {
		return err
	}
	if feed := flags.Find[*flags.Feed](view, flags.FeedKey()); feed == nil || feed.Format != format {
		return fmt.Errorf("the table %q has data of another version of Guidon, which this one cannot read: to keep its flags, export them with a server of that version (guidon export); then start with an empty table (locally: make reset)", s.table)
	}
	return nil
}
