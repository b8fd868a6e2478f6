package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"guidon/pkg/flags"
	"guidon/pkg/usage"
)

// The largest compressed content of a post: DynamoDB's limit of an item is 400 KiB, and a public one takes at most 8 write units.
const (
	maxPost       = 350 << 10
	maxPublicPost = 8<<10 - 200 // less its keys and other attributes
)

// PutPost stores a post: one call, one write unit per KB of its compressed form.
func (s *Store) PutPost(ctx context.Context, post *usage.Post) error {
	item, err := postItem(post)
	if err != nil {
		return err
	}
	_, err = s.putIf(ctx, item, always)
	return err
}

// PutPostOnce stores a post together with an item that has its name: one call, twice the write units, and two for the name.
func (s *Store) PutPostOnce(ctx context.Context, name string, post *usage.Post) error {
	item, err := postItem(post)
	if err != nil {
		return err
	}
	return s.putOnce(ctx, item, postNameItem{postPrefix + "NAME#" + name, "NAME", item.TTL})
}

func postItem(post *usage.Post) (item contentItem, err error) {
	id, err := uuid.Parse(post.ID)
	if err != nil {
		return item, internalError(err)
	}
	content, size, err := pack(storePost(post))
	if err != nil {
		return item, internalError(err)
	}
	most := maxPost
	if post.Public {
		most = maxPublicPost
	}
	if len(content) > most {
		return item, flags.Errorf(flags.TooLarge, "the metrics take %d KB compressed, more than the limit of %d KB; report fewer flags or variants, or report more often",
			len(content)>>10, most>>10)
	}
	key := postKey(post.At, id)
	return contentItem{PK: key.pk, SK: key.sk, Content: content, Size: size, TTL: post.At.Add(postTTL).Unix()}, nil
}

// A postNameItem says that a post of a name was stored.
type postNameItem struct {
	PK  string `dynamodbav:"pk"`
	SK  string `dynamodbav:"sk"`
	TTL int64  `dynamodbav:"ttl"`
}

// putOnce puts an item together with another one, if that does not exist.
func (s *Store) putOnce(ctx context.Context, item, name any) error {
	put, err := s.putOf(item, always)
	if err != nil {
		return err
	}
	first, err := s.putOf(name, absent)
	if err != nil {
		return err
	}
	_, err = s.transact(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Put: put}, {Put: first}}})
	return err // none if it was stored before, perhaps by an attempt that got no response
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
