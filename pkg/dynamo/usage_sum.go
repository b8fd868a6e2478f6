package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"

	"guidon/pkg/flags"
	"guidon/pkg/usage"
)

// Sums loads sums: one BatchGetItem for 100 of them.
func (s *Store) Sums(ctx context.Context, keys []usage.Sum) (sums []usage.Sum, err error) {
	var request []itemKey
	for _, key := range keys {
		request = append(request, sumKey(key.Feature, key.Unit, key.Start))
	}
	err = batchGet(ctx, s, request, true, func(item contentItem) error {
		sum, err := item.sum()
		sums = append(sums, sum)
		return err
	})
	return sums, err
}

// PutSum stores a sum: one call.
//
// The condition makes it exact. Batch n+1 never begins before batch n was added to all its sums (the cursor advances only
// then). So a stored sum with a number below n has not changed since it was loaded for batch n, and one with n or more has
// batch n already: then another aggregation has added it, or an earlier attempt of this call.
func (s *Store) PutSum(ctx context.Context, sum *usage.Sum) error {
	content, _, err := pack(storeSum(sum))
	if err != nil {
		return internalError(err)
	}
	_, ttl := sumLayout(sum.Unit)
	key := sumKey(sum.Feature, sum.Unit, sum.Start)
	_, err = s.putIf(ctx, contentItem{PK: key.pk, SK: key.sk, Content: content, Batch: sum.Batch, TTL: sum.Start.Add(ttl).Unix()},
		absent.Or(expression.Name("last").LessThan(expression.Value(sum.Batch))))
	return err
}

// PutReport stores an application, its instances, or the applications of a token: one call, none if nothing has changed.
func (s *Store) PutReport(ctx context.Context, before, after flags.Aggregate, expires time.Time) error {
	entity := entityOf(after.Key().Entity)
	document, err := entity.encode(after)
	if flags.KindOf(err) == flags.Invalid { // it would be too large to read
		return err
	}
	if err != nil {
		return internalError(err)
	}
	if err := checkSize(entity.title(after.Key().ID), document); err != nil {
		return err
	}
	expected, version := absent, int64(1)
	if before != nil {
		old, err := entity.encode(before)
		if err != nil {
			return internalError(err)
		}
		if old == document {
			return nil
		}
		expected, version = unchanged(before), flags.VersionOf(before)+1
	}
	at := keyOf(after.Key())
	e := envelope{PK: at.pk, SK: at.sk, UID: uidOf(after), Version: version, Document: document}
	if !expires.IsZero() {
		e.TTL = expires.Unix()
	}
	failed, err := s.putIf(ctx, e, expected)
	if failed {
		return versionConflict.Error
	}
	return err
}

// PutSeen stores a flag and its list row: one call, none if nothing has changed. The version stays, so a user's change of what
// was read before replaces what is stored here; the next batch with the flag stores it again.
func (s *Store) PutSeen(ctx context.Context, before, after *flags.Feature) error {
	tx := &transaction{input: &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(uuid.NewString())}}
	old, err := featureEntity.encode(before)
	if err != nil {
		return internalError(err)
	}
	document, err := featureEntity.encode(after)
	if err != nil {
		return internalError(err)
	}
	if old == document {
		return nil
	}
	if err := checkSize(featureTitle(after.Name), document); err != nil {
		return err
	}
	at := featureEntity.key(after.Name)
	if err := s.put(tx, envelope{PK: at.pk, SK: at.sk, Version: before.Version, Document: document}, unchanged(before), versionConflict); err != nil {
		return err
	}
	if err := s.planRow(tx, &featureEntity, before, after); err != nil {
		return err
	}
	failed, err := s.transact(ctx, tx.input)
	if failed {
		return versionConflict.Error
	}
	return err
}

// CountApplications counts the applications: one Query per MB.
func (s *Store) CountApplications(ctx context.Context) (n int, err error) {
	err = query(ctx, s, itemQuery{pk: applicationList, attributes: []string{"sk"}}, func(envelope) (bool, error) {
		n++
		return true, nil
	})
	return n, err
}
