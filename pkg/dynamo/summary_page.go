package dynamo

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"guidon/pkg/flags"
	"guidon/pkg/shape"
)

// The characters before and after those of names, in the order of sort keys.
const (
	beforeNames = "!"
	afterNames  = "\x7f"
)

// rowsInMB is more rows than one call returns: a row has more than 100 bytes.
const rowsInMB = 10_000

// SummaryPage lists the first flags of a project that a query selects: one call per MB of rows. It stops once it has one flag
// more than the limit. A query without tags reads no other rows.
func (s *Store) SummaryPage(ctx context.Context, projectUID string, q flags.SummaryQuery) (list []flags.FeatureSummary, more bool, err error) {
	list = []flags.FeatureSummary{}
	rows := rowPrefix(q.Archived)
	first, last := rows+q.Prefix, rows+q.Prefix+afterNames
	if q.After != "" {
		first = max(first, rows+q.After+beforeNames) // the first key after that of the name
	}
	if first > last || !flags.IsNamePrefix(q.Prefix) { // no name is in between
		return list, false, nil
	}
	input, err := s.summaryQuery(projectPartition(projectUID), first, last)
	if err != nil {
		return nil, false, err
	}
	if len(q.Tags) == 0 {
		input.Limit = aws.Int32(int32(min(q.Limit, rowsInMB) + 1)) //nolint:gosec // rowsInMB is small
	}
	pages := dynamodb.NewQueryPaginator(s.client, input)
	for pages.HasMorePages() && len(list) <= q.Limit {
		var a attempts
		page, err := pages.NextPage(ctx, a.retry)
		if err != nil {
			return nil, false, a.readError(err)
		}
		err = eachItem(page.Items, func(e envelope) error {
			var row rowDocument
			if err := decode(e.Document, &row); err != nil {
				return err
			}
			if len(list) <= q.Limit && row.hasOneOf(q.Tags) {
				list = append(list, row.summary())
			}
			return nil
		})
		if err != nil {
			return nil, false, err
		}
	}
	if len(list) > q.Limit {
		return list[:q.Limit], true, nil
	}
	return list, false, nil
}

// summaryQuery queries the rows of a partition from one sort key to another.
func (s *Store) summaryQuery(partition, first, last string) (*dynamodb.QueryInput, error) {
	key := expression.Key("pk").Equal(expression.Value(partition)).
		And(expression.Key("sk").Between(expression.Value(first), expression.Value(last)))
	expr, err := expression.NewBuilder().WithKeyCondition(key).WithProjection(expression.NamesList(expression.Name("doc"))).Build()
	if err != nil {
		return nil, internalError(err)
	}
	return &dynamodb.QueryInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression: expr.KeyCondition(), ProjectionExpression: expr.Projection(),
		ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	}, nil
}

// hasOneOf reports whether the flag of a row has one of some tags, or there are none.
func (doc rowDocument) hasOneOf(tags []flags.Tag) bool {
	return len(tags) == 0 || slices.ContainsFunc(doc.Tags, func(t shape.Tag) bool { return slices.Contains(tags, flags.Tag(t)) })
}
