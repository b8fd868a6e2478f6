package dynamo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"guidon/pkg/usage"
)

// Posts reads the shards of a period at the same time: one Query per MB each.
func (s *Store) Posts(ctx context.Context, q usage.PostQuery) ([]*usage.Post, time.Time, error) {
	var mu sync.Mutex
	var posts []*usage.Post
	until := q.To
	err := eachShard(func(shard int) error {
		list, end, err := s.postsOf(ctx, shard, q)
		mu.Lock()
		defer mu.Unlock()
		posts = append(posts, list...)
		if end.Before(until) {
			until = end
		}
		return err
	})
	if err != nil {
		return nil, until, err
	}
	posts = slices.DeleteFunc(posts, func(p *usage.Post) bool { return !p.At.Before(until) })
	slices.SortFunc(posts, func(a, b *usage.Post) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return posts, until, nil
}

// postsOf reads one shard, up to its part of the limits.
func (s *Store) postsOf(ctx context.Context, shard int, q usage.PostQuery) (posts []*usage.Post, until time.Time, err error) {
	bytes := 0
	until = q.To
	err = s.eachPost(ctx, shard, q.From, q.To, nil, func(item contentItem, at time.Time, id string) (bool, error) {
		if q.Take != nil && !q.Take(id) {
			return true, nil
		}
		bytes += item.Size
		if n := len(posts); n > 0 && (reached(n, q.MaxPosts) || reached(bytes, q.MaxBytes)) {
			until = at
			if first := posts[0].At; !at.After(first) {
				until = first.Add(time.Millisecond) // all are of the same millisecond
			}
			return false, nil
		}
		var doc postDocument
		if err := unpack(item.Content, &doc); err != nil {
			posts = append(posts, &usage.Post{ID: id, At: at})
			return true, nil //nolint:nilerr // a damaged post must not stop the others
		}
		posts = append(posts, doc.post(at, id))
		return true, nil
	})
	return posts, until, err
}

// reached tells whether a shard has reached its part of a limit.
func reached(n, limit int) bool { return limit > 0 && n >= max(1, limit/postShards) }

// PostIDs reads the keys of all posts of a period: one Query per MB of posts.
func (s *Store) PostIDs(ctx context.Context, period time.Time) ([]string, error) {
	var mu sync.Mutex
	var ids []string
	err := eachShard(func(shard int) error {
		return s.eachPost(ctx, shard, period, period.Add(usage.Period), []string{"pk", "sk"}, func(_ contentItem, _ time.Time, id string) (bool, error) {
			mu.Lock()
			defer mu.Unlock()
			ids = append(ids, id)
			return true, nil
		})
	})
	return ids, err
}

// eachShard calls f for all shards at the same time, and returns one of their errors.
func eachShard(f func(shard int) error) error {
	var group errgroup.Group
	for shard := range postShards {
		group.Go(func() error { return f(shard) })
	}
	return group.Wait()
}

// eachPost calls each with the posts of a shard, received at or after from and before to, in order, until it returns false.
func (s *Store) eachPost(ctx context.Context, shard int, from, to time.Time, attributes []string, each func(item contentItem, at time.Time, id string) (bool, error)) error {
	q := itemQuery{
		pk: postPartition(from, shard), first: postSortKey(from), last: postSortKey(to.Add(-time.Millisecond)) + "#~", attributes: attributes,
	}
	return query(ctx, s, q, func(item contentItem) (bool, error) {
		at, id, err := parsePostSortKey(item.SK)
		if err != nil {
			return false, err
		}
		return each(item, at, id.String())
	})
}

const batchPrefix = "BATCH#"

// A batchItem is the stored form of a batch.
type batchItem struct {
	PK     string `dynamodbav:"pk"`
	SK     string `dynamodbav:"sk"`
	Number int64  `dynamodbav:"number"`
	From   int64  `dynamodbav:"from"` // times in milliseconds
	To     int64  `dynamodbav:"to"`
	Posts  []byte `dynamodbav:"posts,omitempty"` // IDs of 16 bytes each
	Next   int64  `dynamodbav:"next"`            // the cursor after the batch
	Begin  int64  `dynamodbav:"begin"`
	Looked int64  `dynamodbav:"looked"`
	TTL    int64  `dynamodbav:"ttl"`
}

func batchKey(b usage.Batch) itemKey {
	return itemKey{batchPrefix + formatPeriod(b.Period), fmt.Sprintf("%s%015d", batchPrefix, b.Number)}
}

func storeBatch(b usage.Batch) (batchItem, error) {
	key := batchKey(b)
	item := batchItem{
		PK: key.pk, SK: key.sk, Number: b.Number, From: b.From.UnixMilli(), To: b.To.UnixMilli(),
		Next: b.After.Next, Begin: b.After.From.UnixMilli(), Looked: b.After.Looked.UnixMilli(), TTL: time.Now().Add(postTTL).Unix(),
	}
	for _, text := range b.Posts {
		id, err := uuid.Parse(text)
		if err != nil {
			return item, err
		}
		item.Posts = append(item.Posts, id[:]...)
	}
	return item, nil
}

func (item batchItem) batch() (usage.Batch, error) {
	b := usage.Batch{
		Number: item.Number, From: time.UnixMilli(item.From).UTC(), To: time.UnixMilli(item.To).UTC(),
		After: usage.Cursor{Next: item.Next, From: time.UnixMilli(item.Begin).UTC(), Looked: time.UnixMilli(item.Looked).UTC()},
	}
	b.Period = b.From.Truncate(usage.Period)
	for id := range slices.Chunk(item.Posts, len(uuid.UUID{})) {
		parsed, err := uuid.FromBytes(id)
		if err != nil {
			return b, err
		}
		b.Posts = append(b.Posts, parsed.String())
	}
	return b, nil
}

// Batches reads the batches of a period: one Query per MB.
func (s *Store) Batches(ctx context.Context, period time.Time) (batches []usage.Batch, err error) {
	err = query(ctx, s, itemQuery{pk: batchPrefix + formatPeriod(period), prefix: batchPrefix}, func(item batchItem) (bool, error) {
		b, err := item.batch()
		batches = append(batches, b)
		return true, err
	})
	return batches, err
}

// PutBatch stores a batch: one call, and another one if its number is taken. It does not matter whether a lost response hides
// that this call has taken the number: what is stored counts.
func (s *Store) PutBatch(ctx context.Context, b usage.Batch) (usage.Batch, error) {
	stored, err := storeBatch(b)
	if err != nil {
		return b, internalError(err)
	}
	failed, err := s.putIf(ctx, stored, absent)
	if err != nil || !failed {
		return b, err
	}
	err = batchGet(ctx, s, []itemKey{batchKey(b)}, true, func(item batchItem) (err error) {
		b, err = item.batch()
		return err
	})
	return b, err
}

// AdvanceUsage replaces the cursor: one call.
func (s *Store) AdvanceUsage(ctx context.Context, before, after *usage.Cursor) error {
	document, err := encode(cursorDocument{format, after.From, after.Looked})
	if err != nil {
		return internalError(err)
	}
	expected := absent
	if before != nil {
		expected = hasVersion(before.Next)
	}
	failed, err := s.putIf(ctx, envelope{PK: usageCursorKey.pk, SK: usageCursorKey.sk, Version: after.Next, Document: document}, expected)
	if failed {
		return versionConflict.Error
	}
	return err
}
