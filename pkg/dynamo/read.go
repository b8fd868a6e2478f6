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

// loadBatch reads one batch into view.
func (s *Store) loadBatch(ctx context.Context, keys []map[string]types.AttributeValue, entities map[place]flags.Key, view flags.View) error {
	return s.batchGet(ctx, keys, func(e envelope) (err error) {
		key := entities[place{e.PK, e.SK}]
		view[key], err = loaded(key.Entity, e)
		return err
	})
}

// batchGet calls each with the items at up to maxBatch keys. What the engine leaves unprocessed, under load, is asked for
// again.
func (s *Store) batchGet(ctx context.Context, keys []map[string]types.AttributeValue, each func(e envelope) error) error {
	for attempt := 0; len(keys) > 0; attempt++ {
		if attempt > 0 && !pause(ctx, attempt) {
			return gaveUp(false, ctx.Err())
		}
		var a attempts
		out, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{s.table: {Keys: keys, ConsistentRead: aws.Bool(true)}},
		}, a.persist)
		if err != nil {
			return a.readError(err)
		}
		for _, item := range out.Responses[s.table] {
			var e envelope
			if err := attributevalue.UnmarshalMap(item, &e); err != nil {
				return broken(err)
			}
			if err := each(e); err != nil {
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
	err := s.query(ctx, projectPartition(projectUID), rowPrefix(archived), func(e envelope) error {
		var row rowDocument
		err := decode(e.Document, &row)
		list = append(list, row.summary())
		return err
	})
	return list, err
}

// Tags lists the tags that a project's flags have, from their list rows: one call a megabyte of active flags, and of
// archived ones.
func (s *Store) Tags(ctx context.Context, projectUID string) ([]flags.Tag, error) {
	had := map[tagDocument]bool{}
	for _, archived := range []bool{false, true} {
		err := s.query(ctx, projectPartition(projectUID), rowPrefix(archived), func(e envelope) error {
			var row struct {
				Tags []tagDocument `json:"g"` // of a rowDocument
			}
			err := decode(e.Document, &row)
			for _, tag := range row.Tags {
				had[tag] = true
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	list := make([]flags.Tag, 0, len(had))
	for tag := range had {
		list = append(list, tag.tag())
	}
	return flags.DistinctTags(list), nil
}

// List brings every aggregate of an entity: one call a megabyte. Those of projects and tokens come from rows, which have
// no version: they are for reading, not for changing.
func (s *Store) List(ctx context.Context, entity flags.Entity) ([]flags.Aggregate, error) {
	list := []flags.Aggregate{}
	err := s.query(ctx, listPartition(entity), "", func(e envelope) error {
		a, err := loaded(entity, e)
		list = append(list, a)
		return err
	})
	return list, err
}

// Events lists the history of an aggregate, oldest first: one call a megabyte of events, and of their bodies.
func (s *Store) Events(ctx context.Context, of flags.Aggregate) ([]flags.Event, error) {
	list, bodies := []flags.Event{}, map[string]string{} // bodies by the ids of events
	err := s.query(ctx, historyOf(of), bodyPrefix, func(e envelope) error {
		var body eventBody
		err := decode(e.Document, &body)
		bodies[body.ID] = e.Document
		return err
	})
	if err != nil {
		return list, err
	}
	err = s.query(ctx, historyOf(of), eventPrefix, func(e envelope) error {
		var doc eventDocument
		if err := decode(e.Document, &doc); err != nil {
			return err
		}
		event, err := doc.event(bodies[doc.ID])
		list = append(list, event)
		return err
	})
	return list, err
}

// query calls each with every document of a partition whose sort key begins with prefix, in order, and its version.
func (s *Store) query(ctx context.Context, pk, prefix string, each func(e envelope) error) error {
	key := expression.Key("pk").Equal(expression.Value(pk))
	if prefix != "" {
		key = key.And(expression.Key("sk").BeginsWith(prefix))
	}
	expr, err := expression.NewBuilder().WithKeyCondition(key).
		WithProjection(expression.NamesList(expression.Name("doc"), expression.Name("version"))).
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
		var a attempts
		page, err := pages.NextPage(ctx, a.persist)
		if err != nil {
			return a.readError(err)
		}
		for _, item := range page.Items {
			var e envelope
			if err := attributevalue.UnmarshalMap(item, &e); err != nil {
				return broken(err)
			}
			if err := each(e); err != nil {
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
