package transfer

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// An importOutcome is what an import did with one item.
type importOutcome string

const (
	outcomeCreated     importOutcome = "created"
	outcomeOverwritten importOutcome = "overwritten"
	outcomeUnchanged   importOutcome = "unchanged"
	outcomeSkipped     importOutcome = "skipped"
	outcomeKept        importOutcome = "kept" // a segment of the same name with other constraints
)

// report returns the outcome of every item, given the error of each. If the time ran out or the store failed, it returns an
// error instead: the same import again does the rest.
func (im *importing) report(errs []error) (importedView, error) {
	view := importedView{Features: []importedRow{}, Others: []importedRow{}}
	failure := &flags.Error{}
	for i, item := range im.items {
		row := im.row(item)
		if row.Outcome == outcomeKept {
			row.Reasons = []string{"a segment of this name exists with other constraints; it was not changed"}
		}
		if err := errs[i]; err != nil {
			row.Outcome, row.Reasons = outcomeSkipped, reasonsOf(err, view.Skipped)
			if kind := flags.KindOf(err); kind == flags.Unavailable || kind == flags.Internal {
				failure.Kind, failure.Err = max(failure.Kind, kind), errors.Join(failure.Err, err)
				failure.Details = append(failure.Details, flags.Detail{Message: fmt.Sprintf("%s %q: %s", item.kind, item.name, row.Reasons[0])})
			}
		}
		view.count(row)
	}
	if failed := len(failure.Details); failed > 0 {
		failure.Details = failure.Details[:min(failed, fullReasons)]
		failure.Message = fmt.Sprintf("%d of %d items were not imported because the time ran out or the database failed; the others are kept. "+
			"Try again: the same import again does the rest", failed, len(im.items))
		return importedView{}, failure
	}
	view.Warnings = append([]importFinding{}, im.skipped(errs, "were", true, true)...)
	return view, nil
}

// row returns the outcome of an item that was not skipped.
func (im *importing) row(item importItem) importedRow {
	row := importedRow{Kind: item.kind, Name: item.name, Outcome: item.outcome, Reasons: []string{}, Changes: []string{}}
	if item.kind == importedFlag && item.outcome == outcomeOverwritten {
		row.Changes = im.flags[item.name].changes
	}
	return row
}

// skipped tells which change requests and freezes the imported items skip, as they can for some callers.
func (im *importing) skipped(errs []error, were string, reviews, freezes bool) (list []importFinding) {
	note := func(format string, environments func(httpapi.Skips) []string) {
		affected := map[string][]string{} // by environment
		for i, item := range im.items {
			if errs[i] == nil {
				for _, env := range environments(item.skips) {
					affected[env] = append(affected[env], item.name)
				}
			}
		}
		for _, env := range slices.Sorted(maps.Keys(affected)) {
			list = append(list, importFinding{fmt.Sprintf(format, env, were), affected[env]})
		}
	}
	if reviews {
		note("Change requests are on in environment %q, and you may skip them: these flags %s changed there without one", func(s httpapi.Skips) []string { return s.Reviews })
	}
	if freezes {
		note("Environment %q is frozen, and you may skip the freeze: these flags %s changed there in it", func(s httpapi.Skips) []string { return s.Freezes })
	}
	return list
}

// left returns how many items are not imported, or not as the data has them.
func (im *importing) left(errs []error) (n int) {
	for i, item := range im.items {
		if errs[i] != nil || item.outcome == outcomeKept {
			n++
		}
	}
	return n
}

// Limits of the reasons in a report, so that every report fits into a response. After fullReasons skipped flags, each has
// one shorter reason.
const (
	fullReasons   = 500
	maxReasons    = 5
	longestReason = 300 // characters
)

// reasonsOf returns why an item was skipped. skipped is the number of items that were skipped before it.
func reasonsOf(err error, skipped int) []string {
	known, ok := errors.AsType[*flags.Error](err)
	if !ok {
		return []string{"internal error; search the log for this id"}
	}
	reasons := httpapi.Each(known.Details, func(d flags.Detail) string {
		return cmp.Or(strings.TrimPrefix(d.Path, "/"), known.Message) + ": " + d.Message
	})
	if len(reasons) == 0 {
		reasons = []string{known.Message}
	}
	most, longest := maxReasons, longestReason
	if skipped >= fullReasons {
		most, longest = 1, longestReason/3
	}
	for i, reason := range reasons {
		if text := []rune(reason); len(text) > longest {
			reasons[i] = string(text[:longest]) + "…"
		}
	}
	return reasons[:min(most, len(reasons))]
}

// An importedView is the report of an import.
type importedView struct {
	Created     int           `json:"created"` // flags
	Overwritten int           `json:"overwritten"`
	Unchanged   int           `json:"unchanged"`
	Skipped     int           `json:"skipped"`
	Features    []importedRow `json:"features"`
	Others      []importedRow `json:"others"` // tag types, context fields and segments, except unchanged ones

	Warnings []importFinding `json:"warnings"` // the change requests and freezes that were skipped
}

// An importedRow is the outcome of one item. Reasons is empty unless it was skipped or kept.
type importedRow struct {
	Kind    importKind    `json:"kind"`
	Name    string        `json:"name"`
	Outcome importOutcome `json:"outcome"`
	Reasons []string      `json:"reasons"`
	Changes []string      `json:"changes"` // the members of an overwritten flag that change
}

func (v *importedView) count(row importedRow) {
	if row.Kind != importedFlag {
		if row.Outcome != outcomeUnchanged {
			v.Others = append(v.Others, row)
		}
		return
	}
	v.Features = append(v.Features, row)
	switch row.Outcome {
	case outcomeCreated:
		v.Created++
	case outcomeOverwritten:
		v.Overwritten++
	case outcomeUnchanged:
		v.Unchanged++
	default:
		v.Skipped++
	}
}
