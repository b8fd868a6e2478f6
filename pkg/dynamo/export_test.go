package dynamo

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"guidon/pkg/flags"
	"guidon/pkg/usage"
)

// A Guard is a project guard as it is stored.
type Guard struct {
	PK     string `dynamodbav:"pk"`
	SK     string `dynamodbav:"sk"`
	Active int    `dynamodbav:"active"`
	Stale  int    `dynamodbav:"stale"`
	Closed bool   `dynamodbav:"closed,omitempty"`
}

// GuardOf reads the guard that counts a flag; nil if it does not exist.
func GuardOf(t *testing.T, s *Store, f *flags.Feature) *Guard {
	t.Helper()
	out, err := s.client.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: &s.table, Key: featureGuard(f).attributes()})
	if err != nil {
		t.Fatal(err)
	}
	if out.Item == nil {
		return nil
	}
	g := &Guard{}
	if err := attributevalue.UnmarshalMap(out.Item, g); err != nil {
		t.Fatal(err)
	}
	return g
}

// CloseGuard closes the guard that counts a flag, as deleting its project does.
func CloseGuard(t *testing.T, s *Store, f *flags.Feature) {
	t.Helper()
	p := featureGuard(f)
	item, err := attributevalue.MarshalMap(Guard{PK: p.pk, SK: p.sk, Closed: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: &s.table, Item: item}); err != nil {
		t.Fatal(err)
	}
}

// FeedItemSize is about the size of the item of the feed in bytes.
func FeedItemSize(t *testing.T, s *Store) (size int) {
	t.Helper()
	out, err := s.client.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: &s.table, Key: feedKey.attributes(), ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	var e envelope
	if err := attributevalue.UnmarshalMap(out.Item, &e); err != nil {
		t.Fatal(err)
	}
	return sizeOf(out.Item) + sizeOfEntries(e.Earlier) + sizeOfEntries(e.Recent)
}

// PageTTLs are the times at which the pages of the feed expire.
func PageTTLs(t *testing.T, s *Store) (list []time.Time) {
	t.Helper()
	err := query(context.Background(), s, itemQuery{pk: feedPartition, prefix: pagePrefix, attributes: []string{"ttl"}}, func(e envelope) (bool, error) {
		list = append(list, time.Unix(e.TTL, 0))
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// SignInLinkTTL is when a sign-in link expires.
func SignInLinkTTL(t *testing.T, s *Store, hash string) time.Time {
	t.Helper()
	var at time.Time
	err := batchGet(context.Background(), s, []itemKey{signInLinkEntity.key(hash)}, true, func(e envelope) error {
		at = time.Unix(e.TTL, 0)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// DamageChunk replaces a chunk of a snapshot, or deletes it if content is nil. It returns when the chunk would have expired.
func DamageChunk(t *testing.T, s *Store, head *flags.SnapshotHead, i int, content []byte) (expires time.Time) {
	t.Helper()
	key := chunkKey(head, i)
	out, err := s.client.DeleteItem(context.Background(), &dynamodb.DeleteItemInput{
		TableName: &s.table, Key: key.attributes(), ReturnValues: types.ReturnValueAllOld,
	})
	if err != nil {
		t.Fatal(err)
	}
	var old chunk
	if err := attributevalue.UnmarshalMap(out.Attributes, &old); err != nil {
		t.Fatal(err)
	}
	if content != nil {
		item, err := attributevalue.MarshalMap(chunk{key.pk, key.sk, content, old.TTL})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: &s.table, Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	return time.Unix(old.TTL, 0)
}

// DamagePost replaces the content of a post by text that is not compressed JSON.
func DamagePost(t *testing.T, s *Store, post *usage.Post) {
	t.Helper()
	key := postKey(post.At, uuid.MustParse(post.ID))
	item, err := attributevalue.MarshalMap(contentItem{PK: key.pk, SK: key.sk, Content: []byte("z damaged")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: &s.table, Item: item}); err != nil {
		t.Fatal(err)
	}
}
