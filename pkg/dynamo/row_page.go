package dynamo

import (
	"context"

	"guidon/pkg/flags"
)

// EachSummary calls visit with a project's active or archived flags, one after the other: one call per MB of rows. Only that
// MB is in memory.
func (s *Store) EachSummary(ctx context.Context, projectUID string, archived bool, visit func(flags.SummaryRow) error) error {
	var stopped error
	err := s.queryEnvelopes(ctx, envelopeQuery{pk: projectPartition(projectUID), prefix: rowPrefix(archived)}, func(e envelope) (goOn bool, err error) {
		row, err := summaryRow(e.Document)
		if err == nil {
			stopped = visit(row)
		}
		return stopped == nil, err
	})
	if stopped != nil {
		return stopped
	}
	return err
}

// SummariesAfter reads the next active flags of a project: one call.
func (s *Store) SummariesAfter(ctx context.Context, projectUID, after string, limit int) (page []flags.SummaryRow, more bool, err error) {
	prefix := rowPrefix(false)
	query := envelopeQuery{pk: projectPartition(projectUID), first: prefix + after + beforeNames, last: prefix + afterNames, limit: limit}
	found, err := s.queryPage(ctx, query, itemKey{})
	if err != nil {
		return nil, false, err
	}
	for _, e := range found.items {
		row, err := summaryRow(e.Document)
		if err != nil {
			return nil, false, internalError(err)
		}
		page = append(page, row)
	}
	return page, found.more, nil
}

// summaryRow reads the head of a row. Whole reads it again, with its environments.
func summaryRow(document string) (flags.SummaryRow, error) {
	head, _, err := readHead(document)
	return flags.SummaryRow{FeatureSummary: head, Whole: func() (flags.FeatureSummary, error) { return readRow(document) }}, err
}
