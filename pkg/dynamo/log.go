package dynamo

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
)

// The event log is read through two indexes over the events, by time and by project and time. The log of one flag is read
// from the flag's own partition. A page is one Query. What the key cannot select is filtered, so a page may have fewer
// events than the limit.

const (
	logIndex     = "log"
	projectIndex = "project"
	logPartition = "LOG" // the single partition of the index by time; see keys.go
)

// minFiltered is how many events a Query with a filter reads at least, if they are not more than 1 MB.
const minFiltered = 1000

// maxFormer is how many projects a filter can name to find the flags that left them, too: an expression has at most 4 KB.
const maxFormer = 20

// maxPage limits the events of a page in bytes, to about what one Query reads. A page has at least one event.
const maxPage = 1 << 20

// Log reads a page of the log: one call, and a second one if events of the page have bodies.
func (s *Store) Log(ctx context.Context, q flags.LogQuery) (flags.LogPage, error) {
	page := flags.LogPage{Events: []flags.Event{}, Total: flags.UnknownTotal}
	first := q.Cursor == ""
	r, err := logRangeOf(q)
	if err != nil || r.from > r.to {
		if first {
			page.Total = 0
		}
		return page, err
	}
	items, lastKey, err := s.queryLog(ctx, q, r)
	if err != nil {
		return page, err
	}
	hasBodies := slices.ContainsFunc(items, func(e eventItem) bool { return e.BodyBytes > 0 })
	if first && lastKey == nil && (!hasBodies || q.Text == "") { // this page is the whole log
		page.Total = len(items)
	}
	shown := fitInPage(items)
	if q.Text == "" {
		shown = min(shown, q.Limit)
	}
	bodies, err := s.bodies(ctx, items[:shown])
	if err != nil {
		return page, err
	}
	for _, e := range items[:shown] {
		if len(page.Events) == q.Limit {
			return page, nil // page.Next is the cursor of the event before
		}
		page.Next = r.cursor(e)
		if e.BodyBytes > 0 && !strings.Contains(e.Document, escaped(q.Text)) && !strings.Contains(bodies[e.bodyKey()], escaped(q.Text)) {
			continue // the Query cannot filter by a text in a body
		}
		event, err := e.event(bodies)
		if err != nil {
			return page, internalError(err)
		}
		page.Events = append(page.Events, event)
	}
	if shown < len(items) {
		return page, nil
	}
	page.Next = ""
	if lastKey != nil {
		var last eventItem
		if err := attributevalue.UnmarshalMap(lastKey, &last); err != nil {
			return page, internalError(err)
		}
		page.Next = r.cursor(last)
	}
	return page, nil
}

// queryLog reads the items of a page, newest first, and the key of the last item that was read, nil at the end of the log.
func (s *Store) queryLog(ctx context.Context, q flags.LogQuery, r logRange) (items []eventItem, lastKey map[string]types.AttributeValue, err error) {
	builder := expression.NewBuilder().WithKeyCondition(r.condition()).
		WithProjection(expression.NamesList(expression.Name("doc"), expression.Name("id"), expression.Name("pk"), expression.Name("sk"), expression.Name("bodyBytes")))
	filters := r.filters(q)
	limit := q.Limit
	if len(filters) > 0 {
		limit = max(limit, minFiltered)
	}
	if !q.IncludeReserved { // these are few, so they do not count for the limit
		filters = append(filters, expression.Not(in("type", flags.ReservedEvents())))
	}
	if len(filters) > 0 {
		filter := filters[0]
		for _, f := range filters[1:] {
			filter = filter.And(f)
		}
		builder = builder.WithFilter(filter)
	}
	expr, err := builder.Build()
	if err != nil {
		return nil, nil, internalError(err)
	}
	input := &dynamodb.QueryInput{
		TableName: &s.table, ScanIndexForward: aws.Bool(false),
		KeyConditionExpression: expr.KeyCondition(), FilterExpression: expr.Filter(), ProjectionExpression: expr.Projection(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
		Limit: aws.Int32(int32(limit) + 1), //nolint:gosec // a small number. One more than the limit shows whether there are more
	}
	if r.index == "" {
		input.ConsistentRead = aws.Bool(true)
	} else {
		input.IndexName = aws.String(r.index)
	}
	a := newAttempts(ctx)
	out, err := s.client.Query(ctx, input, a.retry)
	if err != nil {
		return nil, nil, a.readError(err)
	}
	if err := attributevalue.UnmarshalListOfMaps(out.Items, &items); err != nil {
		return nil, nil, internalError(err)
	}
	return items, out.LastEvaluatedKey, nil
}

// fitInPage is how many of the first events fit in a page: maxPage bytes, and as many bodies as one call reads.
func fitInPage(items []eventItem) int {
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

// bodies reads the bodies of the events that have one.
func (s *Store) bodies(ctx context.Context, items []eventItem) (map[itemKey]string, error) {
	documents := map[itemKey]string{}
	var keys []itemKey
	for _, e := range items {
		if e.BodyBytes > 0 {
			keys = append(keys, e.bodyKey())
		}
	}
	err := batchGet(ctx, s, keys, true, func(e envelope) error {
		documents[itemKey{e.PK, e.SK}] = e.Document
		return nil
	})
	return documents, err
}

// filters are the conditions that the key condition does not cover.
func (r logRange) filters(q flags.LogQuery) []expression.ConditionBuilder {
	var all []expression.ConditionBuilder
	oneOf := func(attribute string, values []string) {
		if len(values) > 0 {
			all = append(all, in(attribute, values))
		}
	}
	if r.index != projectIndex {
		if n := len(q.Projects); n > 0 && n <= maxFormer {
			all = append(all, in("project", q.Projects).Or(in("former", q.Projects)))
		} else {
			oneOf("project", q.Projects)
		}
	}
	if r.index != "" {
		oneOf("flag", q.Features)
	} else if !q.From.IsZero() || !q.To.IsZero() {
		from, to := idsBetween(q.From, q.To)
		all = append(all, expression.Name("id").Between(expression.Value(from), expression.Value(to)))
	}
	oneOf("environment", q.Environments)
	if len(q.Types) > 0 {
		all = append(all, in("type", q.Types))
	}
	if len(q.Actors) > 0 {
		all = append(all, in("by", q.Actors).Or(in("user", q.Actors)))
	}
	if q.Text != "" {
		all = append(all, expression.Name("doc").Contains(escaped(q.Text)).Or(expression.Name("bodyBytes").AttributeExists()))
	}
	return all
}

// escaped is a text as it appears in the JSON documents of events.
func escaped(text string) string {
	quoted, _ := jsontext.AppendQuote(nil, text)
	return string(quoted[1 : len(quoted)-1])
}

func in[S ~string](attribute string, values []S) expression.ConditionBuilder {
	operands := make([]expression.OperandBuilder, len(values))
	for i, v := range values {
		operands[i] = expression.Value(string(v))
	}
	return expression.Name(attribute).In(operands[0], operands[1:]...)
}
