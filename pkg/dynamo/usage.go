package dynamo

import (
	"context"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/flags"
	"guidon/pkg/usage"
)

// maxPost is the largest compressed content of a post: DynamoDB's limit of an item is 400 KiB.
const maxPost = 350 << 10

// PutPost stores a post: one call, one write unit per KB of its compressed form.
func (s *Store) PutPost(ctx context.Context, post *usage.Post) error {
	id, err := uuid.Parse(post.ID)
	if err != nil {
		return internalError(err)
	}
	content, size, err := pack(storePost(post))
	if err != nil {
		return internalError(err)
	}
	if len(content) > maxPost {
		return flags.Errorf(flags.TooLarge, "the metrics take %d KB compressed, more than the limit of %d KB; report fewer flags or variants, or report more often",
			len(content)>>10, maxPost>>10)
	}
	key := postKey(post.At, id)
	_, err = s.putIf(ctx, contentItem{PK: key.pk, SK: key.sk, Content: content, Size: size, TTL: post.At.Add(postTTL).Unix()}, always)
	return err
}

// Usage returns the sums of a flag: one Query per MB.
func (s *Store) Usage(ctx context.Context, feature string, unit usage.Unit, from time.Time) ([]usage.Sum, error) {
	last := sumSortKey(unit, time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC))
	sums := []usage.Sum{}
	err := query(ctx, s, itemQuery{pk: sumPrefix + feature, first: sumSortKey(unit, from), last: last}, func(c contentItem) (bool, error) {
		sum, err := c.sum()
		sums = append(sums, sum)
		return true, err
	})
	if err != nil {
		return nil, err
	}
	return sums, nil
}
