package dynamo

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"guidon/pkg/backoff"
)

// The calls of DynamoDB that the store makes, except for TransactWriteItems (send.go). Package attributevalue converts items to
// attributes and back by their struct tags, and package expression writes the expressions.

// maxBatch is the largest number of keys in a BatchGetItem.
const maxBatch = 100

// batchGet calls each with the items of keys, which must differ: one call for maxBatch of them. It requests the keys that a
// busy engine leaves unprocessed again.
func batchGet[Item any](ctx context.Context, s *Store, keys []itemKey, consistent bool, each func(Item) error) error {
	for chunk := range slices.Chunk(keys, maxBatch) {
		left := make([]map[string]types.AttributeValue, len(chunk))
		for i, key := range chunk {
			left[i] = key.attributes()
		}
		for attempt := 0; len(left) > 0; attempt++ {
			a := newAttempts(ctx)
			if attempt >= a.bounds.Throttled {
				return unavailable(false, errors.New("dynamo: the engine leaves keys unprocessed"))
			}
			if attempt > 0 && !backoff.Sleep(ctx, a.wait(attempt)) {
				return unavailable(false, ctx.Err())
			}
			out, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
				RequestItems: map[string]types.KeysAndAttributes{s.table: {Keys: left, ConsistentRead: &consistent}},
			}, a.retry)
			if err != nil {
				return a.readError(err)
			}
			if err := unmarshalEach(out.Responses[s.table], each); err != nil {
				return err
			}
			if len(out.UnprocessedKeys[s.table].Keys) < len(left) {
				attempt = 0 // a response holds at most 16 MB, so large items need several requests
			}
			left = out.UnprocessedKeys[s.table].Keys
		}
	}
	return nil
}

// An itemQuery selects items of a partition, in the order of their sort keys.
type itemQuery struct {
	pk          string
	prefix      string   // of the sort keys
	first, last string   // instead of a prefix: the sort keys from one to the other, both included; last may be empty for no end
	attributes  []string // to read; all if none is named
	limit       int      // of the items in one call; 0 for as many as fit into 1 MB
	descending  bool
	filter      expression.ConditionBuilder // of the items that are returned; not set for all
}

// queryInput is the request for a query.
func (s *Store) queryInput(q itemQuery) (*dynamodb.QueryInput, error) {
	key, sk := expression.Key("pk").Equal(expression.Value(q.pk)), expression.Key("sk")
	switch {
	case q.prefix != "":
		key = key.And(sk.BeginsWith(q.prefix))
	case q.last != "":
		key = key.And(sk.Between(expression.Value(q.first), expression.Value(q.last)))
	case q.first != "":
		key = key.And(sk.GreaterThanEqual(expression.Value(q.first)))
	}
	builder := expression.NewBuilder().WithKeyCondition(key)
	if len(q.attributes) > 0 {
		var names expression.ProjectionBuilder
		for _, name := range q.attributes {
			names = names.AddNames(expression.Name(name))
		}
		builder = builder.WithProjection(names)
	}
	if q.filter.IsSet() {
		builder = builder.WithFilter(q.filter)
	}
	expr, err := builder.Build()
	if err != nil {
		return nil, internalError(err)
	}
	input := &dynamodb.QueryInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true), ScanIndexForward: aws.Bool(!q.descending),
		KeyConditionExpression: expr.KeyCondition(), ProjectionExpression: expr.Projection(),
		FilterExpression:         expr.Filter(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	}
	if q.limit > 0 {
		input.Limit = aws.Int32(int32(q.limit)) //nolint:gosec // a small number
	}
	return input, nil
}

// query calls each with the items that a query selects, until each returns false: one call per MB.
func query[Item any](ctx context.Context, s *Store, q itemQuery, each func(Item) (goOn bool, err error)) error {
	input, err := s.queryInput(q)
	if err != nil {
		return err
	}
	goOn := true
	for pages := dynamodb.NewQueryPaginator(s.client, input); goOn && pages.HasMorePages(); {
		a := newAttempts(ctx)
		page, err := pages.NextPage(ctx, a.retry)
		if err != nil {
			return a.readError(err)
		}
		err = unmarshalEach(page.Items, func(item Item) (err error) {
			if goOn {
				goOn, err = each(item)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// queryPage reads the first items that a query selects, and reports whether there can be more: one call, so at most 1 MB.
func queryPage[Item any](ctx context.Context, s *Store, q itemQuery) (items []Item, more bool, err error) {
	input, err := s.queryInput(q)
	if err != nil {
		return nil, false, err
	}
	a := newAttempts(ctx)
	out, err := s.client.Query(ctx, input, a.retry)
	if err != nil {
		return nil, false, a.readError(err)
	}
	err = unmarshalEach(out.Items, func(item Item) error {
		items = append(items, item)
		return nil
	})
	return items, out.LastEvaluatedKey != nil, err
}

// unmarshalEach calls each with the items that attributes are of.
func unmarshalEach[Item any](list []map[string]types.AttributeValue, each func(Item) error) error {
	for _, attributes := range list {
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

// putIf stores an item on a condition, or always for the zero condition: one call. failed tells that the condition did not
// hold, perhaps because an earlier attempt of the call has stored the item, and its response was lost.
func (s *Store) putIf(ctx context.Context, item any, condition expression.ConditionBuilder) (failed bool, err error) {
	put, err := s.putOf(item, condition)
	if err != nil {
		return false, err
	}
	a := newAttempts(ctx)
	_, err = s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: put.TableName, Item: put.Item, ConditionExpression: put.ConditionExpression,
		ExpressionAttributeNames: put.ExpressionAttributeNames, ExpressionAttributeValues: put.ExpressionAttributeValues,
	}, a.retry)
	if err == nil || isConditionFailed(err) {
		return err != nil, nil
	}
	cause := a.cause(err)
	if result, _ := classify(cause); result == rejected && !a.unanswered {
		return false, internalError(cause)
	}
	return false, unavailable(a.unanswered, cause)
}

// transact sends a transaction whose items are not part of a change: one call. failed tells that a condition did not hold, perhaps
// because an earlier attempt of the call was applied, and its response was lost.
func (s *Store) transact(ctx context.Context, input *dynamodb.TransactWriteItemsInput) (failed bool, err error) {
	a := newAttempts(ctx)
	_, err = s.client.TransactWriteItems(ctx, input, a.retry)
	switch result, _ := classify(err); {
	case result == applied, result == conditionFailed:
		return result == conditionFailed, nil
	case result == rejected && !a.unanswered:
		return false, internalError(err)
	}
	return false, unavailable(a.unanswered, a.cause(err))
}

// putOf is the put of an item on a condition, or without one for the zero condition.
func (s *Store) putOf(item any, condition expression.ConditionBuilder) (*types.Put, error) {
	attributes, err := attributevalue.MarshalMap(item)
	if err != nil {
		return nil, internalError(err)
	}
	put := &types.Put{TableName: &s.table, Item: attributes}
	if condition.IsSet() {
		expr, err := expression.NewBuilder().WithCondition(condition).Build()
		if err != nil {
			return nil, internalError(err)
		}
		put.ConditionExpression, put.ExpressionAttributeNames, put.ExpressionAttributeValues = expr.Condition(), expr.Names(), expr.Values()
	}
	return put, nil
}

// updateIf updates an item by an expression, which may have a condition: one call. It returns the attributes that were updated. No
// caller of the API notices if an attempt without a response was applied, so the error says that nothing was changed.
func (s *Store) updateIf(ctx context.Context, at itemKey, builder expression.Builder) (updated map[string]types.AttributeValue, failed bool, err error) {
	expr, err := builder.Build()
	if err != nil {
		return nil, false, internalError(err)
	}
	a := newAttempts(ctx)
	out, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: at.attributes(), UpdateExpression: expr.Update(), ConditionExpression: expr.Condition(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(), ReturnValues: types.ReturnValueUpdatedNew,
	}, a.retry)
	switch {
	case err == nil:
		return out.Attributes, false, nil
	case isConditionFailed(err):
		return nil, true, nil
	}
	return nil, false, a.readError(err)
}

func isConditionFailed(err error) bool {
	_, is := errors.AsType[*types.ConditionalCheckFailedException](err)
	return is
}

// refuseIncomplete is an option of the client. It refuses a response without the list that every response of DynamoDB has: the SDK
// reads an empty body as a response without items, as if nothing were stored.
func refuseIncomplete(stack *middleware.Stack) error {
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("RefuseIncomplete", func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
		out, metadata, err := next.HandleDeserialize(ctx, in)
		incomplete := false
		switch result := out.Result.(type) {
		case *dynamodb.BatchGetItemOutput:
			incomplete = result.Responses == nil && result.UnprocessedKeys == nil
		case *dynamodb.QueryOutput:
			incomplete = result.Items == nil
		}
		if err == nil && incomplete {
			err = &smithy.DeserializationError{Err: errors.New("the response has no list of items")}
		}
		return out, metadata, err
	}), middleware.Before)
}
