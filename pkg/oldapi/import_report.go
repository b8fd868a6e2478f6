package oldapi

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"guidon/pkg/flags"
)

// An importOutcome is what an import did with one thing.
type importOutcome string

const (
	outcomeCreated     importOutcome = "created"
	outcomeOverwritten importOutcome = "overwritten"
	outcomeUnchanged   importOutcome = "unchanged"
	outcomeSkipped     importOutcome = "skipped"
	outcomeKept        importOutcome = "kept" // a segment of the same name with other constraints
)

// report says what became of everything. What time did not suffice for, or failed for a fault that is none of the data's, is
// no outcome but an error: the same import again does the rest.
func (m *importing) report(done []result) (decision, error) {
	view := importedView{Features: []importedRow{}, Others: []importedRow{}}
	failure, failed := &flags.Error{}, 0
	for i, item := range m.items {
		row := importedRow{Kind: item.kind, Name: item.name, Outcome: outcomeUnchanged, Reasons: []string{}}
		if outcome, said := done[i].body.(importOutcome); said {
			row.Outcome = outcome
		}
		if row.Outcome == outcomeKept {
			row.Reasons = []string{"it is here already with other constraints, which stay as they are"}
		}
		if err := done[i].err; err != nil {
			row.Outcome, row.Reasons = outcomeSkipped, reasonsOf(err, view.Skipped)
			if kind := flags.KindOf(err); kind == flags.Unavailable || kind == flags.Internal {
				failed, failure.Kind, failure.Err = failed+1, max(failure.Kind, kind), errors.Join(failure.Err, err)
				failure.Details = append(failure.Details, flags.Detail{Message: fmt.Sprintf("%s %q: %s", item.kind, item.name, row.Reasons[0])})
			}
		}
		view.count(row)
	}
	if failed > 0 {
		failure.Details = failure.Details[:min(failed, fullReasons)]
		failure.Message = fmt.Sprintf("%d of %d flags and what they need were not brought, for want of time or of the store; "+
			"what is brought stays, and the same import again does the rest", failed, len(m.items))
		return decision{}, failure
	}
	return decision{status: http.StatusOK, body: view}, nil
}

// How much a report says of what was skipped, so that it fits into an answer whatever the import: after so many flags one
// reason each, and shorter.
const (
	fullReasons   = 500
	maxReasons    = 5
	longestReason = 300 // in characters
)

// reasonsOf are the reasons why something was skipped, after so many others.
func reasonsOf(err error, before int) []string {
	told, ok := errors.AsType[*flags.Error](err)
	if !ok {
		return []string{"internal error; search the log for this import"}
	}
	reasons := each(told.Details, func(d flags.Detail) string {
		return strings.TrimPrefix(cmp.Or(d.Path, "/flag"), "/") + ": " + d.Message
	})
	if len(reasons) == 0 {
		reasons = []string{told.Message}
	}
	most, longest := maxReasons, longestReason
	if before >= fullReasons {
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
	Others      []importedRow `json:"others"` // tag types, context fields and segments that were made, or could not be
}

// An importedRow says what an import did with one thing, and, if that is nothing, why.
type importedRow struct {
	Kind    importKind    `json:"kind"`
	Name    string        `json:"name"`
	Outcome importOutcome `json:"outcome"`
	Reasons []string      `json:"reasons"`
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
