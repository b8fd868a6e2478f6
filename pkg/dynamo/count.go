package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"guidon/pkg/access"
	"guidon/pkg/flags"
)

// NextID increments an entity's counter: one call. A lost response leaves a gap.
func (s *Store) NextID(ctx context.Context, entity flags.Entity) (int64, error) {
	updated, _, err := s.updateIf(ctx, itemKey{"COUNTER#" + string(entity), "COUNTER"},
		expression.NewBuilder().WithUpdate(expression.Add(expression.Name("last"), expression.Value(1))))
	if err != nil {
		return 0, err
	}
	var counter struct {
		Last int64 `dynamodbav:"last"`
	}
	if err := attributevalue.UnmarshalMap(updated, &counter); err != nil {
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
	q := itemQuery{pk: projectPartition(projectUID), prefix: guardPrefix, attributes: []string{"active", "stale"}}
	err = query(ctx, s, q, func(g guard) (bool, error) {
		active, stale = active+g.Active, stale+g.Stale
		return true, nil
	})
	return active, stale, err
}

// Touch stores when a token was last used, unless a later use is stored: one call, which is not retried. It must not delay the
// request that it is made for.
func (s *Store) Touch(ctx context.Context, use *access.TokenUse) error {
	item, condition, err := storeUse(use)
	if err != nil {
		return internalError(err)
	}
	put, err := s.putOf(item, condition)
	if err != nil {
		return err
	}
	once := func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }
	_, err = s.client.PutItem(ctx, putInput(put), once)
	if err != nil && !isConditionFailed(err) {
		return (&attempts{}).readError(err)
	}
	return nil
}

// PutTokenUse does the same, and retries: one call.
func (s *Store) PutTokenUse(ctx context.Context, use *access.TokenUse) error {
	item, condition, err := storeUse(use)
	if err != nil {
		return internalError(err)
	}
	_, err = s.putIf(ctx, item, condition)
	return err
}

// storeUse is the item of the last use of a token, and the condition that no later one is stored. Its version is the time.
func storeUse(use *access.TokenUse) (envelope, expression.ConditionBuilder, error) {
	document, err := tokenUseEntity.encode(use)
	key, version := tokenUseEntity.key(use.Hash), expression.Name("version")
	item := envelope{PK: key.pk, SK: key.sk, Version: use.At.UnixMilli(), Document: document}
	return item, version.AttributeNotExists().Or(version.LessThan(expression.Value(item.Version))), err
}
