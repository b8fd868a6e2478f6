package dynamo

import (
	"context"
	"slices"

	"guidon/pkg/flags"
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
	rowsBetween := itemQuery{pk: projectPartition(projectUID), first: first, last: last, attributes: documentAttributes}
	if len(q.Tags) == 0 {
		rowsBetween.limit = min(q.Limit, rowsInMB) + 1
	}
	err = query(ctx, s, rowsBetween, func(e envelope) (bool, error) {
		row, err := readRow(e.Document)
		if err == nil && hasOneOf(row, q.Tags) {
			list = append(list, row)
		}
		return len(list) <= q.Limit, err
	})
	if err != nil {
		return nil, false, err
	}
	if len(list) > q.Limit {
		return list[:q.Limit], true, nil
	}
	return list, false, nil
}

// hasOneOf reports whether a flag has one of some tags, or there are none.
func hasOneOf(row flags.FeatureSummary, tags []flags.Tag) bool {
	return len(tags) == 0 || slices.ContainsFunc(row.Tags, func(t flags.Tag) bool { return slices.Contains(tags, t) })
}
