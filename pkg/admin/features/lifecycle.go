package features

import (
	"slices"
	"strings"
	"unicode/utf8"

	"guidon/pkg/access"
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// lifecycleOperations are the stages of a flag (contract: Lifecycle). The stages between the first and the last ones are not
// known before usage is reported.
func lifecycleOperations() []httpapi.Operation {
	return []httpapi.Operation{
		{Route: "GET " + flagPath + "/lifecycle", Permission: access.Read, Handle: httpapi.Handle(readLifecycle)},
		{Route: "POST " + flagPath + "/lifecycle/complete", Permission: access.UpdateFeature, Handle: httpapi.DoOptional(completeFeature)},
		{Route: "POST " + flagPath + "/lifecycle/uncomplete", Permission: access.UpdateFeature, Handle: httpapi.Do(uncompleteFeature)},
	}
}

// A completeBody tells the result of a flag; everything may be omitted.
type completeBody struct {
	Status      jsonbody.Maybe[string] `json:"status"`
	StatusValue jsonbody.Maybe[string] `json:"statusValue"`
}

// MaxStatusValue bounds the value of a status, in characters.
const MaxStatusValue = 1000

func (b completeBody) Check(_ flags.Limits, problems *flags.Problems) {
	if b.Status.Set && !slices.Contains(flags.CompletionStatuses(), flags.CompletionStatus(b.Status.Value)) {
		problems.Add("/status", "%q must be one of %s", jsonbody.Shorten(b.Status.Value), strings.Join(httpapi.Each(flags.CompletionStatuses(), wire.ToString), ", "))
	}
	if n := utf8.RuneCountInString(b.StatusValue.Value); n > MaxStatusValue {
		problems.Add("/statusValue", "must have at most %d characters, but has %d", MaxStatusValue, n)
	}
}

func readLifecycle(tx *httpapi.Tx, at httpapi.InFeature) ([]shape.PhaseView, error) {
	return httpapi.Each(at.FeatureOrArchived(tx).History(), shape.PhaseViewOf), nil
}

func completeFeature(tx *httpapi.Tx, at httpapi.InFeature, in completeBody) error {
	f := at.Feature(tx)
	f.Complete(flags.Completion{Status: flags.CompletionStatus(in.Status.Value), Value: in.StatusValue.Value}, tx.Now)
	tx.Save(events.FeatureCompleted(httpapi.Was(tx, f), f), f)
	return nil
}

func uncompleteFeature(tx *httpapi.Tx, at httpapi.InFeature) error {
	f := at.Feature(tx)
	f.Uncomplete()
	tx.Save(events.FeatureUncompleted(httpapi.Was(tx, f), f), f)
	return nil
}
