package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"guidon/pkg/flags"
)

// EachSummary calls visit with a project's active or archived flags, one after the other: one call per MB of rows. Only that
// MB is in memory.
func (s *Store) EachSummary(ctx context.Context, projectUID string, archived bool, visit func(flags.SummaryRow)) error {
	return s.documents(ctx, projectPartition(projectUID), rowPrefix(archived), func(e envelope) error {
		row, err := summaryRow(e.Document)
		visit(row)
		return err
	})
}

// SummariesAfter reads the next active flags of a project: one call.
func (s *Store) SummariesAfter(ctx context.Context, projectUID, after string, limit int) (page []flags.SummaryRow, more bool, err error) {
	prefix := rowPrefix(false)
	first, last := prefix+after+beforeNames, prefix+afterNames
	key := expression.Key("pk").Equal(expression.Value(projectPartition(projectUID))).
		And(expression.Key("sk").Between(expression.Value(first), expression.Value(last)))
	items, more, err := queryPage[envelope](ctx, s, key, limit)
	if err != nil {
		return nil, false, err
	}
	for _, e := range items {
		row, err := summaryRow(e.Document)
		if err != nil {
			return nil, false, internalError(err)
		}
		page = append(page, row)
	}
	return page, more, nil
}

// summaryRow reads a row. Its environments are in Whole only, because most searches do not compare them.
func summaryRow(document string) (flags.SummaryRow, error) {
	row, err := readRow(document)
	return flags.SummaryRow{
		Whole: func() (flags.FeatureSummary, error) { return row, nil },
		FeatureSummary: flags.FeatureSummary{
			Name: row.Name, Project: row.Project, Metadata: flags.Metadata{Type: row.Type, Stale: row.Stale},
			CreatedAt: row.CreatedAt, LastSeenAt: row.LastSeenAt, LastPhase: row.LastPhase, Favorites: row.Favorites, Tags: row.Tags,
		},
	}, err
}

// queryPage reads the first items that match a condition on the key, and whether there can be more: one call, so at most 1 MB.
func queryPage[Item any](ctx context.Context, s *Store, key expression.KeyConditionBuilder, limit int) (items []Item, more bool, err error) {
	expr, err := expression.NewBuilder().WithKeyCondition(key).Build()
	if err != nil {
		return nil, false, internalError(err)
	}
	var a attempts
	out, err := s.client.Query(ctx, &dynamodb.QueryInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true), Limit: aws.Int32(int32(limit)), //nolint:gosec // a small number
		KeyConditionExpression: expr.KeyCondition(), ExpressionAttributeNames: expr.Names(), ExpressionAttributeValues: expr.Values(),
	}, a.retry)
	if err != nil {
		return nil, false, a.readError(err)
	}
	err = eachItem(out.Items, func(item Item) error {
		items = append(items, item)
		return nil
	})
	return items, out.LastEvaluatedKey != nil, err
}
