package dynamo

import (
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/uuid"

	"guidon/pkg/flags"
)

// A cursor is where a page ended: the ID of an event, or the version of a flag. It becomes part of the key condition and
// is never used as an ExclusiveStartKey: that contains the primary key of an item, such as the hash of a token, and a
// caller could change it to read from any partition.

// A logRange selects the part of a partition that a query reads: the sort keys from one to another, both included.
type logRange struct {
	index, key, partition string // index is "" for the table itself
	sort, from, to        string
}

func (r logRange) condition() expression.KeyConditionBuilder {
	return expression.Key(r.key).Equal(expression.Value(r.partition)).
		And(expression.Key(r.sort).Between(expression.Value(r.from), expression.Value(r.to)))
}

// logRangeOf selects the partition that needs the least filtering, limited by the times and the cursor.
func logRangeOf(q flags.LogQuery) (logRange, error) {
	of := q.Of
	if len(q.Features) == 1 {
		of = flags.FeatureKey(q.Features[0])
	}
	if of != (flags.Key{}) {
		r := logRange{key: "pk", partition: keyOf(of).pk, sort: "sk", from: eventPrefix, to: eventPrefix + "~"}
		if q.Cursor != "" {
			version, err := versionInCursor(q.Cursor)
			if err != nil {
				return r, err
			}
			r.to = eventSortKey(version - 1)
		}
		return r, nil
	}
	r := logRange{index: logIndex, key: logIndex, partition: logPartition, sort: "id"}
	if len(q.Projects) == 1 {
		r.index, r.key, r.partition = projectIndex, projectIndex, q.Projects[0]
	}
	r.from, r.to = idsBetween(q.From, q.To)
	if q.Cursor != "" {
		before, err := idBeforeCursor(q.Cursor)
		if err != nil {
			return r, err
		}
		r.to = min(r.to, before)
	}
	return r, nil
}

// idsBetween are the first and the last ID that an event in a period can have.
func idsBetween(from, to time.Time) (first, last string) {
	first, last = uuid.Nil.String(), uuid.Max.String()
	if !from.IsZero() {
		first = idAt(from, uuid.Nil)
	}
	if !to.IsZero() {
		last = idAt(to, uuid.Max)
	}
	return first, last
}

// idAt replaces the time of a UUID of version 7. No event is older than 1970.
func idAt(t time.Time, id uuid.UUID) string {
	var at [8]byte
	binary.BigEndian.PutUint64(at[:], uint64(max(0, t.UnixMilli()))<<16)
	copy(id[:6], at[:6])
	return id.String()
}

// cursor is the cursor of a page that ends with an event.
func (r logRange) cursor(e eventItem) string {
	var at []byte
	if r.index == "" {
		version, _ := strconv.ParseUint(strings.TrimPrefix(e.SK, eventPrefix), 10, 64)
		at = binary.BigEndian.AppendUint64(nil, version)
	} else {
		id, _ := uuid.Parse(e.ID)
		at = id[:]
	}
	return cursorEncoding.EncodeToString(at)
}

var cursorEncoding = base64.RawURLEncoding.Strict()

// decodeCursor is the content of a cursor; nil if it is not encoded as cursor does it.
func decodeCursor(cursor string) []byte {
	at, err := cursorEncoding.DecodeString(cursor)
	if err != nil || cursorEncoding.EncodeToString(at) != cursor { // the decoder ignores line breaks
		return nil
	}
	return at
}

var badCursor = flags.Errorf(flags.Invalid, "cursor must be the value of next in an earlier page of the same log")

// idBeforeCursor is the largest ID that is less than the one in a cursor.
func idBeforeCursor(cursor string) (string, error) {
	id := decodeCursor(cursor)
	if len(id) != len(uuid.UUID{}) || uuid.UUID(id).Version() != 7 {
		return "", badCursor
	}
	for i := len(id) - 1; i >= 0; i-- { // subtract one
		id[i]--
		if id[i] != 0xff {
			break
		}
	}
	return uuid.UUID(id).String(), nil
}

// versionInCursor is the version of the flag in a cursor.
func versionInCursor(cursor string) (int64, error) {
	at := decodeCursor(cursor)
	if len(at) != 8 {
		return 0, badCursor
	}
	version := binary.BigEndian.Uint64(at)
	if version == 0 || version > maxVersion {
		return 0, badCursor
	}
	return int64(version), nil
}
