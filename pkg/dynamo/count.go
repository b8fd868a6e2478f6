package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"guidon/pkg/flags"
)

// NextID increments an entity's counter: one call. A lost response leaves a gap.
func (s *Store) NextID(ctx context.Context, entity flags.Entity) (int64, error) {
	var a attempts
	out, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: itemKey{"COUNTER#" + string(entity), "COUNTER"}.attributes(), ReturnValues: types.ReturnValueUpdatedNew,
		UpdateExpression: aws.String("ADD #last :one"), ExpressionAttributeNames: map[string]string{"#last": "last"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
	}, a.retry)
	if err != nil {
		return 0, a.readError(err)
	}
	var counter struct {
		Last int64 `dynamodbav:"last"`
	}
	if err := attributevalue.UnmarshalMap(out.Attributes, &counter); err != nil {
		return 0, internalError(err)
	}
	if counter.Last == 0 {
		return 0, internalError(fmt.Errorf("the counter of %s has no number", entity))
	}
	return counter.Last, nil
}

// Counts adds up the guards of a project: one call.
func (s *Store) Counts(ctx context.Context, projectUID string) (active, stale int, err error) {
	type guard struct {
		Active int `dynamodbav:"active"`
		Stale  int `dynamodbav:"stale"`
	}
	err = query(ctx, s, projectPartition(projectUID), guardPrefix, []string{"active", "stale"}, func(g guard) error {
		active, stale = active+g.Active, stale+g.Stale
		return nil
	})
	return active, stale, err
}

// Touch stores when a token was last used: one call, which is not retried. It must not delay the request that it is made
// for.
func (s *Store) Touch(ctx context.Context, use *flags.TokenUse) error {
	document, err := tokenUseEntity.encode(use)
	if err != nil {
		return internalError(err)
	}
	key := tokenUseEntity.key(use.Hash)
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
