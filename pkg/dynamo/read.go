package dynamo

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// maxBatch is the largest number of keys in a BatchGetItem.
const maxBatch = 100

// Load reads aggregates: one call for up to 100 keys.
func (s *Store) Load(ctx context.Context, keys []flags.Key) (flags.View, error) {
	view := make(flags.View, len(keys))
	keyOfItem := make(map[itemKey]flags.Key, len(keys))
	for chunk := range slices.Chunk(keys, maxBatch) {
		request := make([]itemKey, 0, len(chunk))
		for _, key := range chunk {
			at := keyOf(key)
			if _, duplicate := keyOfItem[at]; duplicate {
				continue // the engine rejects a batch with the same key twice
			}
			keyOfItem[at] = key
			request = append(request, at)
		}
		items, err := s.loadEnvelopes(ctx, request)
		if err != nil {
			return nil, err
		}
		for _, e := range items {
			key, requested := keyOfItem[itemKey{e.PK, e.SK}]
			if !requested {
				return nil, internalError(fmt.Errorf("dynamo: the response has the item %q %q, which was not requested", e.PK, e.SK))
			}
			if view[key], err = s.decoded.decode(entityOf(key.Entity), e); err != nil {
				return nil, internalError(err)
			}
		}
	}
	return view, nil
}

// batchGet calls each with the items of up to maxBatch keys. It requests the keys that a busy engine leaves unprocessed
// again.
func batchGet[Item any](ctx context.Context, s *Store, keys []map[string]types.AttributeValue, consistent bool, each func(Item) error) error {
	for attempt := 0; len(keys) > 0; attempt++ {
		if attempt > 0 && !pause(ctx, attempt) {
			return unavailable(false, ctx.Err())
		}
		var a attempts
		out, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{s.table: {Keys: keys, ConsistentRead: &consistent}},
		}, a.retry)
		if err != nil {
			return a.readError(err)
		}
		if err := eachItem(out.Responses[s.table], each); err != nil {
			return err
		}
		keys = out.UnprocessedKeys[s.table].Keys
	}
	return nil
}

// Summaries lists a project's active or archived flags: one call per MB of rows.
func (s *Store) Summaries(ctx context.Context, projectUID string, archived bool) ([]flags.FeatureSummary, error) {
	list := []flags.FeatureSummary{}
	err := s.documents(ctx, projectPartition(projectUID), rowPrefix(archived), func(e envelope) error {
		row, err := readRow(e.Document)
		list = append(list, row)
		return err
	})
	return list, err
}

// Tags lists the tags of a project's flags. It reads their list rows: one call per MB for the active flags, and the same
// for the archived ones.
func (s *Store) Tags(ctx context.Context, projectUID string) ([]flags.Tag, error) {
	found := map[shape.Tag]bool{}
	for _, archived := range []bool{false, true} {
		err := s.documents(ctx, projectPartition(projectUID), rowPrefix(archived), func(e envelope) error {
			var row struct {
				Tags []shape.Tag `json:"g"` // of a rowDocument
			}
			err := decode(e.Document, &row)
			for _, tag := range row.Tags {
				found[tag] = true
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	list := make([]flags.Tag, 0, len(found))
	for tag := range found {
		list = append(list, flags.Tag(tag))
	}
	return flags.DistinctTags(list), nil
}

// List reads all aggregates of an entity: one call per MB. Projects and tokens come from list rows, which have no version,
// so they cannot be changed.
func (s *Store) List(ctx context.Context, name flags.Entity) ([]flags.Aggregate, error) {
	entity := entityOf(name)
	if entity.list == "" {
		return nil, internalError(fmt.Errorf("dynamo: the entity %s has no list", name))
	}
	list := []flags.Aggregate{}
	err := s.documents(ctx, entity.list, "", func(e envelope) error {
		a, err := entity.decode(e)
		list = append(list, a)
		return err
	})
	return list, err
}

// Events lists the history of an aggregate, oldest first: one call per MB of events, and of their bodies.
func (s *Store) Events(ctx context.Context, of flags.Aggregate) ([]flags.Event, error) {
	list, bodies := []flags.Event{}, map[string]string{} // by event ID
	err := s.documents(ctx, historyOf(of), bodyPrefix, func(e envelope) error {
		var body eventBody
		err := decode(e.Document, &body)
		bodies[body.ID] = e.Document
		return err
	})
	if err != nil {
		return list, err
	}
	err = s.documents(ctx, historyOf(of), eventPrefix, func(e envelope) error {
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

// documents calls each with the documents and versions of the items of a partition, see query.
func (s *Store) documents(ctx context.Context, pk, prefix string, each func(e envelope) error) error {
	return s.queryEnvelopes(ctx, envelopeQuery{pk: pk, prefix: prefix}, func(e envelope) (bool, error) { return true, each(e) })
}

// query calls each with the items of a partition whose sort keys begin with prefix, in order. It reads only the named
// attributes, or all if none is named.
func query[Item any](ctx context.Context, s *Store, pk, prefix string, attributes []string, each func(Item) error) error {
	key := expression.Key("pk").Equal(expression.Value(pk))
	if prefix != "" {
		key = key.And(expression.Key("sk").BeginsWith(prefix))
	}
	return queryOn(ctx, s, key, attributes, each)
}

// queryBetween calls each with the items of a partition whose sort keys are between two, both included, in order.
func queryBetween[Item any](ctx context.Context, s *Store, pk, first, last string, each func(Item) error) error {
	key := expression.Key("pk").Equal(expression.Value(pk)).
		And(expression.Key("sk").Between(expression.Value(first), expression.Value(last)))
	return queryOn(ctx, s, key, nil, each)
}

// queryOn calls each with the items that match a condition on the key, in order: one call per MB.
func queryOn[Item any](ctx context.Context, s *Store, key expression.KeyConditionBuilder, attributes []string, each func(Item) error) error {
	var projection expression.ProjectionBuilder
	for _, name := range attributes {
		projection = projection.AddNames(expression.Name(name))
	}
	builder := expression.NewBuilder().WithKeyCondition(key)
	if len(attributes) > 0 {
		builder = builder.WithProjection(projection)
	}
	expr, err := builder.Build()
	if err != nil {
		return internalError(err)
	}
	pages := dynamodb.NewQueryPaginator(s.client, &dynamodb.QueryInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression: expr.KeyCondition(), ProjectionExpression: expr.Projection(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	})
	for pages.HasMorePages() {
		var a attempts
		page, err := pages.NextPage(ctx, a.retry)
		if err != nil {
			return a.readError(err)
		}
		if err := eachItem(page.Items, each); err != nil {
			return err
		}
	}
	return nil
}

// eachItem unmarshals items and calls each with them.
func eachItem[Item any](items []map[string]types.AttributeValue, each func(Item) error) error {
	for _, attributes := range items {
		var item Item
		if err := attributevalue.UnmarshalMap(attributes, &item); err != nil {
			return internalError(err)
		}
		if err := each(item); err != nil {
			return internalError(err)
		}
	}
	return nil
}
