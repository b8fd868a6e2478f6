package dynamo

import (
	"context"
	"slices"
	"strings"

	"guidon/pkg/flags"
)

// EachSummary calls visit with a project's active or archived flags, one after the other: one call per MB of rows. Only that
// MB is in memory. DynamoDB leaves out rows that cannot have one of the texts, which costs the same units, and much less processor time.
func (s *Store) EachSummary(ctx context.Context, projectUID string, archived bool, texts []string, visit func(flags.SummaryRow) error) error {
	q := itemQuery{pk: projectPartition(projectUID), prefix: rowPrefix(archived)}
	if len(texts) > 0 && !slices.ContainsFunc(texts, func(text string) bool { return !flags.IsNamePrefix(text) }) {
		q.filter = mayHave(texts)
	}
	return eachDocument(ctx, s, q, summaryRow, func(row flags.SummaryRow) (bool, error) { return true, visit(row) })
}

// SummariesAfter reads the next active or archived flags of a project: one call.
func (s *Store) SummariesAfter(ctx context.Context, projectUID string, archived bool, after string, limit int) (page []flags.SummaryRow, more bool, err error) {
	prefix := rowPrefix(archived)
	items, more, err := queryPage[envelope](ctx, s, itemQuery{
		pk: projectPartition(projectUID), first: prefix + after + beforeNames, last: prefix + afterNames, attributes: documentAttributes, limit: limit,
	})
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

// beforeEnvironments is where the environments of a row begin. They are its last field, and no other field has this text: in a JSON string,
// the quotes would be escaped.
const beforeEnvironments = `,"e":{`

// summaryRow decodes the head of a row. Whole decodes all of it.
func summaryRow(document string) (flags.SummaryRow, error) {
	var head rowHead
	text, _, cut := strings.Cut(document, beforeEnvironments)
	if cut {
		text += "}"
	}
	err := decode(text, &head)
	return flags.SummaryRow{
		FeatureSummary: head.summary(),
		Whole:          func() (flags.FeatureSummary, error) { return readRow(document) },
	}, err
}
