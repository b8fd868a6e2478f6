package dynamo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"guidon/pkg/flags"
)

// A snapshot is in chunks, in a partition of its own, so that reading one does not slow down reading the feed. The head says
// which snapshot is the current one. It is not beside the feed, because the functions for applications write it, and must not
// write the feed. Chunks never change, so they can be read eventually consistent. DynamoDB deletes them after a week: a
// snapshot is written at least once a day.
const (
	maxChunk    = 350 << 10 // bytes
	maxChunks   = 1000      // a head with more is damaged
	snapshotTTL = 7 * 24 * time.Hour
)

// snapshotEntity is the head. It is written by WriteSnapshot, and only loaded as an aggregate.
var snapshotEntity = entity{
	name:  flags.EntitySnapshot,
	key:   func(form string) itemKey { return itemKey{"SNAPSHOT#HEAD", "FORM#" + form} },
	title: func(string) string { return "the head of the snapshots" },
	codec: codec{encode: cannotEncode, decode: func(e envelope) (flags.Aggregate, error) {
		var doc snapshotDocument
		err := decode(e.Document, &doc)
		return &flags.SnapshotHead{Epoch: doc.Epoch, Number: e.Version, Hash: doc.Hash, Chunks: doc.Chunks, At: doc.At}, err
	}},
}

var leaseKey = itemKey{"SNAPSHOT#LEASE", "LEASE"}

// A snapshotItem is an envelope with the epoch, for the condition of putHead: no attribute is left out if it is 0 or "".
type snapshotItem struct {
	PK       string `dynamodbav:"pk"`
	SK       string `dynamodbav:"sk"`
	Epoch    string `dynamodbav:"epoch"`
	Version  int64  `dynamodbav:"version"`
	Document string `dynamodbav:"doc"`
}

type snapshotDocument struct {
	Format int       `json:"format"`
	Epoch  string    `json:"epoch"`
	Hash   string    `json:"hash"`
	Chunks int       `json:"chunks"`
	At     time.Time `json:"at"`
}

// A chunk is a part of a snapshot.
type chunk struct {
	PK      string `dynamodbav:"pk"`
	SK      string `dynamodbav:"sk"`
	Content []byte `dynamodbav:"content"`
	TTL     int64  `dynamodbav:"ttl,omitempty"`
}

// chunkKey is the key of a chunk of a snapshot.
func chunkKey(head *flags.SnapshotHead, i int) itemKey {
	return itemKey{fmt.Sprintf("SNAPSHOT#%s.%d.%s", head.Epoch, head.Number, head.Hash), fmt.Sprintf("CHUNK#%04d", i)}
}

// ReadSnapshot reads the chunks of a snapshot, chunksACall (46) of them in one call. It returns nil if the content is not complete.
func (s *Store) ReadSnapshot(ctx context.Context, head *flags.SnapshotHead) ([]byte, error) {
	if head.Chunks < 1 || head.Chunks > maxChunks {
		return nil, nil
	}
	parts := make([][]byte, head.Chunks)
	indexes := map[string]int{} // by sort key
	var keys []itemKey
	for i := range parts {
		key := chunkKey(head, i)
		indexes[key.sk] = i
		keys = append(keys, key)
	}
	for part := range slices.Chunk(keys, chunksACall) {
		err := batchGet(ctx, s, part, false, func(c chunk) error {
			parts[indexes[c.SK]] = c.Content
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	content := bytes.Join(parts, nil)
	if hashOf(content) != head.Hash {
		return nil, nil
	}
	return content, nil
}

// chunksACall is how many chunks fit into a response, which has at most 16 MB.
const chunksACall = 16 << 20 / (maxChunk + envelopeSize)

// WriteSnapshot writes the chunks of a snapshot, then its head: one call each. It sets the hash and the number of chunks.
func (s *Store) WriteSnapshot(ctx context.Context, head flags.SnapshotHead, content []byte) error {
	head.Hash, head.Chunks = hashOf(content), 0
	ttl := time.Now().Add(snapshotTTL).Unix()
	for part := range slices.Chunk(content, maxChunk) {
		key := chunkKey(&head, head.Chunks)
		head.Chunks++
		if _, err := s.putIf(ctx, chunk{key.pk, key.sk, part, ttl}, always); err != nil {
			return err
		}
	}
	return s.putHead(ctx, head)
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// putHead makes a snapshot the current one, unless a newer one of the same epoch is. One with the same number is written again
// once a day, before its chunks are deleted. An instance that still has an earlier
// epoch can replace the head, too. Then the head is of no use until the next snapshot of the new epoch.
func (s *Store) putHead(ctx context.Context, head flags.SnapshotHead) error {
	document, err := encode(snapshotDocument{format, head.Epoch, head.Hash, head.Chunks, head.At})
	if err != nil {
		return internalError(err)
	}
	at := keyOf(flags.SnapshotKey())
	_, err = s.putIf(ctx, snapshotItem{at.pk, at.sk, head.Epoch, head.Number, document},
		absent.Or(expression.Name("epoch").NotEqual(expression.Value(head.Epoch))).
			Or(expression.Name("version").LessThanEqual(expression.Value(head.Number))))
	return err // none if a newer one is stored, or this one, whose response was lost
}

// TakeLease takes the lease: one call.
func (s *Store) TakeLease(ctx context.Context, holder string, now, until time.Time) (bool, error) {
	return s.takeLease(ctx, leaseKey, holder, now, until)
}

// takeLease sets the holder of a lease and its end, unless another holder has it.
func (s *Store) takeLease(ctx context.Context, at itemKey, holder string, now, until time.Time) (bool, error) {
	_, failed, err := s.updateIf(ctx, at, expression.NewBuilder().
		WithUpdate(expression.Set(expression.Name("holder"), expression.Value(holder)).
			Set(expression.Name("until"), expression.Value(until.UnixMilli()))).
		WithCondition(absent.
			Or(expression.Name("holder").Equal(expression.Value(holder))).
			Or(expression.Name("until").LessThanEqual(expression.Value(now.UnixMilli())))))
	return err == nil && !failed, err
}
