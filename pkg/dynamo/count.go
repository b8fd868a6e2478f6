package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

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

// Touch stores when a token was last used, unless a later use is stored: one call. The version of the item is the time.
func (s *Store) Touch(ctx context.Context, use *access.TokenUse) error {
	document, err := tokenUseEntity.encode(use)
	if err != nil {
		return internalError(err)
	}
	key, version := tokenUseEntity.key(use.Hash), expression.Name("version")
	item := envelope{PK: key.pk, SK: key.sk, Version: use.At.UnixMilli(), Document: document}
	_, err = s.putIf(ctx, item, version.AttributeNotExists().Or(version.LessThan(expression.Value(item.Version))))
	return err
}
