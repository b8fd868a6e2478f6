package dynamo

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"guidon/pkg/flags"
)

// maxBatch is how many items one BatchGetItem may name.
const maxBatch = 100

// Load brings the aggregates at keys: one call for up to 100 of them.
func (s *Store) Load(ctx context.Context, keys []flags.Key) (flags.View, error) {
	view := make(flags.View, len(keys))
	entities := make(map[place]flags.Key, len(keys))
	for chunk := range slices.Chunk(keys, maxBatch) {
		request := make([]map[string]types.AttributeValue, 0, len(chunk))
		for _, key := range chunk {
			p := placeOf(key)
			if _, twice := entities[p]; twice {
				continue // the engine refuses a batch that names an item twice
			}
			entities[p] = key
			request = append(request, p.attributes())
		}
		if err := s.loadBatch(ctx, request, entities, view); err != nil {
			return nil, err
		}
	}
	return view, nil
}

// loadBatch reads one batch into view. What the engine leaves unprocessed, under load, is asked for again.
func (s *Store) loadBatch(ctx context.Context, keys []map[string]types.AttributeValue, entities map[place]flags.Key, view flags.View) error {
	for attempt := 0; len(keys) > 0; attempt++ {
		if attempt > 0 && !pause(ctx, attempt) {
			return flags.Errorf(flags.Unavailable, "the store is busy; try again")
		}
		out, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{s.table: {Keys: keys, ConsistentRead: aws.Bool(true)}},
		})
		if err != nil {
			return readError(err)
		}
		for _, item := range out.Responses[s.table] {
			var e envelope
			if err := attributevalue.UnmarshalMap(item, &e); err != nil {
				return broken(err)
			}
			key := entities[place{e.PK, e.SK}]
			if view[key], err = loaded(key.Entity, e); err != nil {
				return broken(err)
			}
		}
		keys = out.UnprocessedKeys[s.table].Keys
	}
	return nil
}

// Summaries lists a project's active or archived flags: one call a megabyte of rows.
func (s *Store) Summaries(ctx context.Context, projectUID string, archived bool) ([]flags.FeatureSummary, error) {
	list := []flags.FeatureSummary{}
	err := s.query(ctx, projectPartition(projectUID), rowPrefix(archived), func(document string) error {
		var row rowDocument
		err := decode(document, &row)
		list = append(list, row.summary())
		return err
	})
	return list, err
}

// Events lists the history of an aggregate, oldest first: one call a megabyte.
func (s *Store) Events(ctx context.Context, of flags.Aggregate) ([]flags.Event, error) {
	list := []flags.Event{}
	err := s.query(ctx, historyOf(of), eventPrefix, func(document string) error {
		var doc eventDocument
		err := decode(document, &doc)
		list = append(list, doc.event())
		return err
	})
	return list, err
}

// query calls each with every document of a partition whose sort key begins with prefix, in order.
func (s *Store) query(ctx context.Context, pk, prefix string, each func(document string) error) error {
	expr, err := expression.NewBuilder().
		WithKeyCondition(expression.Key("pk").Equal(expression.Value(pk)).And(expression.Key("sk").BeginsWith(prefix))).
		WithProjection(expression.NamesList(expression.Name("doc"))).
		Build()
	if err != nil {
		return broken(err)
	}
	pages := dynamodb.NewQueryPaginator(s.client, &dynamodb.QueryInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression: expr.KeyCondition(), ProjectionExpression: expr.Projection(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return readError(err)
		}
		for _, item := range page.Items {
			document, _ := item["doc"].(*types.AttributeValueMemberS)
			if document == nil {
				continue // an item without a document: none of ours
			}
			if err := each(document.Value); err != nil {
				return broken(err)
			}
		}
	}
	return nil
}

// pause waits before another attempt, longer each time and never in step with others; false when time is up.
func pause(ctx context.Context, attempt int) bool {
	timer := time.NewTimer(jitter(attempt))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
