package oldapi

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// lifecycleOperations are how far a flag has come (contract: Lifecycle). Of the stages between the first and the last ones
// nothing is known before usage is reported.
func lifecycleOperations(one string) []Operation {
	const read = theProject | theFeature
	return []Operation{
		{"GET " + one + "/lifecycle", flags.Read, read | evenArchived, does(readLifecycle).answers(200, []phaseView{})},
		{"POST " + one + "/lifecycle/complete", flags.UpdateFeature, read, optional[completeBody](takes(completeFeature)).answers(200)},
		{"POST " + one + "/lifecycle/uncomplete", flags.UpdateFeature, read, does(uncompleteFeature).answers(200)},
	}
}

// A completeBody says what came of a flag; without a status, or a body, nothing is said of it.
type completeBody struct {
	Status      maybe[string] `json:"status"`
	StatusValue maybe[string] `json:"statusValue"`
}

// MaxStatusValue bounds the value of a status, in characters.
const MaxStatusValue = 1000

func (b completeBody) check(_ flags.Limits, problems *flags.Problems) {
	if b.Status.Set && !slices.Contains(flags.CompletionStatuses(), flags.CompletionStatus(b.Status.Value)) {
		problems.Add("/status", "%q must be one of %s", shorten(b.Status.Value), strings.Join(each(flags.CompletionStatuses(), toString), ", "))
	}
	if n := utf8.RuneCountInString(b.StatusValue.Value); n > MaxStatusValue {
		problems.Add("/statusValue", "must have at most %d characters, has %d", MaxStatusValue, n)
	}
}

// A phaseView is a stage that a flag has entered.
type phaseView struct {
	Stage       flags.Stage            `json:"stage"`
	EnteredAt   timestamp              `json:"enteredStageAt"`
	Status      flags.CompletionStatus `json:"status,omitzero"` // of a completed flag, where somebody said
	StatusValue string                 `json:"statusValue,omitzero"`
}

func phaseOf(p flags.Phase) phaseView {
	return phaseView{p.Stage, timestamp(p.EnteredAt), p.Status, p.Value}
}

func readLifecycle(c *call) (decision, error) { return ok(each(c.feature.History(), phaseOf)) }

func completeFeature(c *call, in completeBody) (decision, error) {
	f := c.feature.Clone()
	f.Complete(flags.Completion{Status: flags.CompletionStatus(in.Status.Value), Value: in.StatusValue.Value}, c.now)
	return c.changesFeature(f, events.FeatureCompleted(c.feature, f), http.StatusOK, nil)
}

func uncompleteFeature(c *call) (decision, error) {
	f := c.feature.Clone()
	f.Uncomplete()
	return c.changesFeature(f, events.FeatureUncompleted(c.feature, f), http.StatusOK, nil)
}
