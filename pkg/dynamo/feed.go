package dynamo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

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
// If the feed is a little long, one change in four turns it, so that changes at the same time seldom fail on the condition.
const (
	longFeed    = 1200 // bytes of the newer list
	tooLongFeed = 2400
	turnShare   = 4

	pagePrefix = "PAGE#"
	pageTTL    = 7 * 24 * time.Hour
)

// planFeed adds the entry of a change to the feed. The feed as it was read is needed to turn it, and may be nil.
func (s *Store) planFeed(tx *transaction, read *flags.Feed) error {
	if len(tx.served) == 0 {
		return nil
	}
	entry := formatEntry(tx.served)
	tx.bytes += len(entry)
	const items = 2 // the feed and a page
	if read != nil && isLong(read.Size) && len(tx.errors)+items <= maxTransaction && tx.bytes+feedReserve <= maxTransactionBytes {
		tx.turns = true
		return s.planTurn(tx, read, entry)
	}
	recent := expression.Name("recent")
	return s.update(tx, feedKey, expression.NewBuilder().WithUpdate(expression.
		Set(recent, expression.ListAppend(expression.IfNotExists(recent, expression.Value([]string{})), expression.Value([]string{entry}))).
		Add(expression.Name("n"), expression.Value(1)).
		Add(expression.Name("turn"), expression.Value(0))), versionConflict)
}

// feedReserve is more than the sizes of the feed and of a page in a transaction.
const feedReserve = 32 << 10

// isLong tells whether a change turns a feed whose newer list has a size.
func isLong(size int) bool {
	return size > tooLongFeed || size > longFeed && rand.N(turnShare) == 0 //nolint:gosec // spreading load is no secret
}

// planTurn turns the feed, and puts the entries of its older list into a page.
func (s *Store) planTurn(tx *transaction, read *flags.Feed, entry string) error {
	recent, turn := expression.Name("recent"), expression.Name("turn")
	err := s.update(tx, feedKey, expression.NewBuilder().
		WithUpdate(expression.
			Set(expression.Name("earlier"), recent).
			Set(recent, expression.Value([]string{entry})).
			Add(expression.Name("n"), expression.Value(1)).
			Add(turn, expression.Value(1))).
		WithCondition(turn.Equal(expression.Value(read.Turn))), versionConflict)
	older := read.Entries[:len(read.Entries)-read.Newer]
	if err != nil || len(older) == 0 {
		return err
	}
	page := envelope{PK: feedPartition, SK: pageSortKey(older[len(older)-1].Number)}
	for _, e := range older {
		page.Entries = append(page.Entries, formatEntry(e.Changes))
	}
	page.TTL = time.Now().Add(pageTTL).Unix()
	item, err := attributevalue.MarshalMap(page)
	if err != nil {
		return internalError(err)
	}
	s.add(tx, types.TransactWriteItem{Put: &types.Put{TableName: &s.table, Item: item}}, versionConflict)
	tx.bytes += sizeOfEntries(page.Entries)
	return nil
}

// pageSortKey is the sort key of the page whose last entry has that number.
func pageSortKey(last int64) string { return fmt.Sprintf("%s%012d", pagePrefix, last) }

// FeedPages reads the pages of the feed that have entries after a number: one call per MB.
func (s *Store) FeedPages(ctx context.Context, number int64) ([]flags.FeedEntry, error) {
	expr, err := expression.NewBuilder().WithKeyCondition(expression.Key("pk").Equal(expression.Value(feedPartition)).
		And(expression.Key("sk").Between(expression.Value(pageSortKey(number+1)), expression.Value(pageSortKey(maxVersion))))).Build()
	if err != nil {
		return nil, internalError(err)
	}
	var entries []flags.FeedEntry
	pages := dynamodb.NewQueryPaginator(s.client, &dynamodb.QueryInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true), KeyConditionExpression: expr.KeyCondition(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	})
	for pages.HasMorePages() {
		var a attempts
		out, err := pages.NextPage(ctx, a.retry)
		if err != nil {
			return nil, a.readError(err)
		}
		err = eachItem(out.Items, func(e envelope) error {
			last, err := strconv.ParseInt(strings.TrimPrefix(e.SK, pagePrefix), 10, 64)
			if err != nil {
				return err
			}
			list, err := parseEntries(last, e.Entries)
			for _, entry := range list {
				if entry.Number > number {
					entries = append(entries, entry)
				}
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// ResetFeed begins a new epoch of the feed: one call. The number rises, so that no page has a number of the new epoch.
func (s *Store) ResetFeed(ctx context.Context, epoch string) error {
	expr, err := expression.NewBuilder().WithUpdate(expression.
		Set(expression.Name("epoch"), expression.Value(epoch)).
		Set(expression.Name("earlier"), expression.Value([]string{})).
		Set(expression.Name("recent"), expression.Value([]string{})).
		Add(expression.Name("n"), expression.Value(1)).
		Add(expression.Name("turn"), expression.Value(1))).Build()
	if err != nil {
		return internalError(err)
	}
	var a attempts
	_, err = s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: feedKey.attributes(), UpdateExpression: expr.Update(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	}, a.retry)
	if err != nil {
		return unavailable(a.unanswered, a.cause(err))
	}
	return nil
}
