package dynamo

import (
	"context"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"guidon/pkg/flags"
)

// NextID counts an entity's counter up: one call. A lost answer leaves a gap.
func (s *Store) NextID(ctx context.Context, entity flags.Entity) (int64, error) {
	expr, err := expression.NewBuilder().WithUpdate(expression.Add(expression.Name("last"), expression.Value(1))).Build()
	if err != nil {
		return 0, broken(err)
	}
	var a attempts
	out, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: place{"COUNTER#" + string(entity), "COUNTER"}.attributes(), ReturnValues: types.ReturnValueUpdatedNew,
		UpdateExpression: expr.Update(), ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	}, a.persist)
	if err != nil {
		return 0, a.readError(err)
	}
	last, _ := out.Attributes["last"].(*types.AttributeValueMemberN)
	if last == nil {
		return 0, flags.Errorf(flags.Internal, "the store counts nothing")
	}
	id, err := strconv.ParseInt(last.Value, 10, 64)
	if err != nil {
		return 0, broken(err)
	}
	return id, nil
}

// Counts adds up a project's guards: one call.
func (s *Store) Counts(ctx context.Context, projectUID string) (active, stale int, err error) {
	expr, err := expression.NewBuilder().WithKeyCondition(expression.Key("pk").Equal(expression.Value(projectPartition(projectUID))).
		And(expression.Key("sk").BeginsWith(guardPrefix))).Build()
	if err != nil {
		return 0, 0, broken(err)
	}
	var a attempts
	out, err := s.client.Query(ctx, &dynamodb.QueryInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true), KeyConditionExpression: expr.KeyCondition(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	}, a.persist)
	if err != nil {
		return 0, 0, a.readError(err)
	}
	var counted []struct {
		Active int `dynamodbav:"active"`
		Stale  int `dynamodbav:"stale"`
	}
	if err := attributevalue.UnmarshalListOfMaps(out.Items, &counted); err != nil {
		return 0, 0, broken(err)
	}
	for _, guard := range counted {
		active, stale = active+guard.Active, stale+guard.Stale
	}
	return active, stale, nil
}

// Touch writes down when a token was last used: one call, which is not repeated when it fails. It matters less than the
// time of the request that it is for.
func (s *Store) Touch(ctx context.Context, seen *flags.TokenUse) error {
	document, err := stored(seen)
	if err != nil {
		return broken(err)
	}
	p := placeOf(seen.Key())
	item, err := envelope{PK: p.pk, SK: p.sk, Document: document}.attributes()
	if err != nil {
		return broken(err)
	}
	once := func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }
	if _, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.table, Item: item}, once); err != nil {
		return (&attempts{}).readError(err)
	}
	return nil
}
