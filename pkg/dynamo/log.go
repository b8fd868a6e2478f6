package dynamo

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"guidon/pkg/flags"
)

// The log is read through two indexes over the events, by time and by project and time; that of one flag, from the
// flag's own partition. A page is one Query: what no key can select is filtered, so that pages may be short.
//
// A cursor is where the last page ended: the id of an event, or the version of a flag. It becomes part of the key
// condition, and never an ExclusiveStartKey: that would hold the primary key of an item, such as the hash of a token,
// and lead to any partition that somebody writes into it.

const (
	logIndex     = "log"
	projectIndex = "project"
	wholeLog     = "LOG" // the one partition of the index by time; see keys.go
)

// lookThrough is how many events a page is filtered from at least, if they are no more than the megabyte of a Query.
const lookThrough = 1000

// maxPage is how many bytes of events a page shows, at about what a Query reads at once. At least one is shown.
const maxPage = 1 << 20

// Log brings a page of the log: one call, and one more if events of the page have bodies.
func (s *Store) Log(ctx context.Context, q flags.LogQuery) (flags.LogPage, error) {
	page := flags.LogPage{Events: []flags.Event{}, Total: flags.UnknownTotal}
	first := q.Cursor == ""
	r, err := rangeOf(q)
	if err != nil || r.from > r.to {
		if first {
			page.Total = 0
		}
		return page, err
	}
	builder := expression.NewBuilder().WithKeyCondition(r.condition()).
		WithProjection(expression.NamesList(expression.Name("doc"), expression.Name("id"), expression.Name("pk"), expression.Name("sk"), expression.Name("bodyBytes")))
	selective := r.filters(q)
	if all := withoutReserved(selective, q); len(all) > 0 {
		filter := all[0]
		for _, one := range all[1:] {
			filter = filter.And(one)
		}
		builder = builder.WithFilter(filter)
	}
	expr, err := builder.Build()
	if err != nil {
		return page, broken(err)
	}
	input := &dynamodb.QueryInput{
		TableName: &s.table, ScanIndexForward: aws.Bool(false),
		KeyConditionExpression: expr.KeyCondition(), FilterExpression: expr.Filter(), ProjectionExpression: expr.Projection(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	}
	if r.index == "" {
		input.ConsistentRead = aws.Bool(true)
	} else {
		input.IndexName = aws.String(r.index)
	}
	look := q.Limit
	if len(selective) > 0 {
		look = max(look, lookThrough)
	}
	input.Limit = aws.Int32(int32(look) + 1) //nolint:gosec // a page. One more than wanted tells whether there is more
	var a attempts
	out, err := s.client.Query(ctx, input, a.persist)
	if err != nil {
		return page, a.readError(err)
	}
	items := make([]eventItem, len(out.Items))
	if err := attributevalue.UnmarshalListOfMaps(out.Items, &items); err != nil {
		return page, broken(err)
	}
	hasBodies := slices.ContainsFunc(items, func(e eventItem) bool { return e.BodyBytes > 0 })
	if first && out.LastEvaluatedKey == nil && (!hasBodies || q.Text == "") { // the query came to the end of the log
		page.Total = len(items)
	}
	shown := ofPage(items)
	if q.Text == "" {
		shown = min(shown, q.Limit)
	}
	bodies, err := s.bodies(ctx, items[:shown])
	if err != nil {
		return page, err
	}
	for _, e := range items[:shown] {
		if len(page.Events) == q.Limit {
			return page, nil // page.Next is that of the event before
		}
		body := bodies[bodyPlace(place{e.PK, e.SK})]
		page.Next = r.cursor(e)
		if e.BodyBytes > 0 && !strings.Contains(e.Document, asStored(q.Text)) && !strings.Contains(body, asStored(q.Text)) {
			continue // of these, the query could not see what their bodies say
		}
		var doc eventDocument
		if err := decode(e.Document, &doc); err != nil {
			return page, broken(err)
		}
		event, err := doc.event(body)
		if err != nil {
			return page, broken(err)
		}
		page.Events = append(page.Events, event)
	}
	if shown < len(items) {
		return page, nil
	}
	page.Next = ""
	if out.LastEvaluatedKey != nil {
		var last eventItem
		if err := attributevalue.UnmarshalMap(out.LastEvaluatedKey, &last); err != nil {
			return page, broken(err)
		}
		page.Next = r.cursor(last)
	}
	return page, nil
}

// ofPage is how many of the first events a page can show: maxPage bytes, with as many bodies as one call reads.
func ofPage(items []eventItem) int {
	size, bodies := 0, 0
	for i, e := range items {
		size += len(e.Document) + e.BodyBytes
		if e.BodyBytes > 0 {
			bodies++
		}
		if i > 0 && (size > maxPage || bodies > maxBatch) {
			return i
		}
	}
	return len(items)
}

// bodies reads the bodies of those events that have one.
func (s *Store) bodies(ctx context.Context, items []eventItem) (map[place]string, error) {
	documents := map[place]string{}
	var keys []map[string]types.AttributeValue
	for _, e := range items {
		if e.BodyBytes > 0 {
			keys = append(keys, bodyPlace(place{e.PK, e.SK}).attributes())
		}
	}
	for chunk := range slices.Chunk(keys, maxBatch) {
		err := s.batchGet(ctx, chunk, func(e envelope) error {
			documents[place{e.PK, e.SK}] = e.Document
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return documents, nil
}

// A logRange is the part of a partition that a query is about: the sort keys between two, both included.
type logRange struct {
	index, key, partition string // index is "" for the table itself
	sort, from, to        string
}

func (r logRange) condition() expression.KeyConditionBuilder {
	return expression.Key(r.key).Equal(expression.Value(r.partition)).
		And(expression.Key(r.sort).Between(expression.Value(r.from), expression.Value(r.to)))
}

// rangeOf chooses the partition that has the least to filter, and bounds it by the times and the cursor.
func rangeOf(q flags.LogQuery) (logRange, error) {
	if len(q.Features) == 1 {
		r := logRange{key: "pk", partition: "FLAG#" + q.Features[0], sort: "sk", from: eventPrefix, to: eventPrefix + "~"}
		if q.Cursor != "" {
			version, err := versionIn(q.Cursor)
			if err != nil {
				return r, err
			}
			r.to = eventKey(version - 1)
		}
		return r, nil
	}
	r := logRange{index: logIndex, key: logIndex, partition: wholeLog, sort: "id"}
	if len(q.Projects) == 1 {
		r.index, r.key, r.partition = projectIndex, projectIndex, q.Projects[0]
	}
	r.from, r.to = idsBetween(q.From, q.To)
	if q.Cursor != "" {
		before, err := idBefore(q.Cursor)
		if err != nil {
			return r, err
		}
		r.to = min(r.to, before)
	}
	return r, nil
}

// filters are the conditions that the key does not hold already.
func (r logRange) filters(q flags.LogQuery) []expression.ConditionBuilder {
	var all []expression.ConditionBuilder
	oneOf := func(attribute string, values []string) {
		if len(values) > 0 {
			all = append(all, in(attribute, values))
		}
	}
	if r.index != projectIndex {
		oneOf("project", q.Projects)
	}
	if r.index != "" {
		oneOf("flag", q.Features)
	} else if !q.From.IsZero() || !q.To.IsZero() {
		from, to := idsBetween(q.From, q.To)
		all = append(all, expression.Name("id").Between(expression.Value(from), expression.Value(to)))
	}
	oneOf("environment", q.Environments)
	oneOf("type", texts(q.Types))
	if len(q.Actors) > 0 {
		all = append(all, in("by", q.Actors).Or(in("user", q.Actors)))
	}
	if q.Text != "" {
		all = append(all, expression.Name("doc").Contains(asStored(q.Text)).Or(expression.Name("bodyBytes").AttributeExists()))
	}
	return all
}

// asStored is a text as the documents of events have it.
func asStored(text string) string {
	quoted, _ := jsontext.AppendQuote(nil, text)
	return string(quoted[1 : len(quoted)-1])
}

// withoutReserved adds what leaves the reserved events out, which are few among the others, if they may not be shown.
func withoutReserved(all []expression.ConditionBuilder, q flags.LogQuery) []expression.ConditionBuilder {
	if q.IncludeReserved {
		return all
	}
	return append(slices.Clip(all), expression.Not(in("type", texts(flags.ReservedEvents()))))
}

func in(attribute string, values []string) expression.ConditionBuilder {
	operands := make([]expression.OperandBuilder, len(values))
	for i, v := range values {
		operands[i] = expression.Value(v)
	}
	return expression.Name(attribute).In(operands[0], operands[1:]...)
}

func texts(types []flags.EventType) []string {
	list := make([]string, len(types))
	for i, t := range types {
		list[i] = string(t)
	}
	return list
}

// idsBetween are the first and the last id that an event of that time can have.
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

// idAt is rest with the time of a UUID of version 7 at its head. No event is older than 1970.
func idAt(t time.Time, rest uuid.UUID) string {
	var at [8]byte
	binary.BigEndian.PutUint64(at[:], uint64(max(0, t.UnixMilli()))<<16)
	copy(rest[:6], at[:6])
	return rest.String()
}

// cursor is where a page ends whose last item that is.
func (r logRange) cursor(e eventItem) string {
	var at []byte
	if r.index == "" {
		version, _ := strconv.ParseUint(strings.TrimPrefix(e.SK, eventPrefix), 10, 64)
		at = binary.BigEndian.AppendUint64(nil, version)
	} else {
		id, _ := uuid.Parse(e.ID)
		at = id[:]
	}
	return cursorCode.EncodeToString(at)
}

var cursorCode = base64.RawURLEncoding.Strict()

// decodeCursor is what a cursor holds; nil when nothing writes it so.
func decodeCursor(cursor string) []byte {
	at, err := cursorCode.DecodeString(cursor)
	if err != nil || cursorCode.EncodeToString(at) != cursor { // line ends are passed over
		return nil
	}
	return at
}

var badCursor = flags.Errorf(flags.Invalid, "cursor must be the next of an earlier page, of the same flag's events or of the log's")

// idBefore is the greatest id below that of a cursor.
func idBefore(cursor string) (string, error) {
	id := decodeCursor(cursor)
	if len(id) != len(uuid.UUID{}) || uuid.UUID(id).Version() != 7 {
		return "", badCursor
	}
	for i := len(id) - 1; i >= 0; i-- { // less one
		id[i]--
		if id[i] != 0xff {
			break
		}
	}
	return uuid.UUID(id).String(), nil
}

// versionIn is the version of a flag in a cursor.
func versionIn(cursor string) (int64, error) {
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

// maxVersion is what eventKey has digits for.
const maxVersion = 999_999_999_999

// eventKey is the sort key of the event of a version.
func eventKey(version int64) string { return fmt.Sprintf("%s%012d", eventPrefix, version) }
