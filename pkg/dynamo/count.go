package dynamo

import (
	"context"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"guidon/pkg/flags"
)

// NextID increments an entity's counter: one call. A lost response leaves a gap.
func (s *Store) NextID(ctx context.Context, entity flags.Entity) (int64, error) {
	expr, err := expression.NewBuilder().WithUpdate(expression.Add(expression.Name("last"), expression.Value(1))).Build()
	if err != nil {
		return 0, internalError(err)
	}
	var a attempts
	out, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: itemKey{"COUNTER#" + string(entity), "COUNTER"}.attributes(), ReturnValues: types.ReturnValueUpdatedNew,
		UpdateExpression: expr.Update(), ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	}, a.retry)
	if err != nil {
		return 0, a.readError(err)
	}
	last, _ := out.Attributes["last"].(*types.AttributeValueMemberN)
	if last == nil {
		return 0, internalError(fmt.Errorf("the counter of %s has no number", entity))
	}
	id, err := strconv.ParseInt(last.Value, 10, 64)
	if err != nil {
		return 0, internalError(err)
	}
	return id, nil
}

// Counts adds up the guards of a project: one call.
func (s *Store) Counts(ctx context.Context, projectUID string) (active, stale int, err error) {
	expr, err := expression.NewBuilder().WithKeyCondition(expression.Key("pk").Equal(expression.Value(projectPartition(projectUID))).
		And(expression.Key("sk").BeginsWith(guardPrefix))).Build()
	if err != nil {
		return 0, 0, internalError(err)
	}
	var a attempts
	out, err := s.client.Query(ctx, &dynamodb.QueryInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true), KeyConditionExpression: expr.KeyCondition(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	}, a.retry)
	if err != nil {
		return 0, 0, a.readError(err)
	}
	var counted []struct {
		Active int `dynamodbav:"active"`
		Stale  int `dynamodbav:"stale"`
	}
	if err := attributevalue.UnmarshalListOfMaps(out.Items, &counted); err != nil {
		return 0, 0, internalError(err)
	}
	for _, guard := range counted {
		active, stale = active+guard.Active, stale+guard.Stale
	}
	return active, stale, nil
}

// Touch stores when a token was last used: one call, which is not retried. It must not delay the request that it is made
// for.
func (s *Store) Touch(ctx context.Context, seen *flags.TokenUse) error {
	document, err := seenEntity.encode(seen)
	if err != nil {
		return internalError(err)
	}
	key := seenEntity.key(seen.Hash)
	item, err := attributevalue.MarshalMap(envelope{PK: key.pk, SK: key.sk, Document: document})
	if err != nil {
		return internalError(err)
	}
	once := func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }
	if _, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.table, Item: item}, once); err != nil {
		return (&attempts{}).readError(err)
	}
	return nil
}
