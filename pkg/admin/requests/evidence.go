package requests

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/review"
	"guidon/pkg/shape"
)

// An evidence is all that is known of a change request, for auditors.
type evidence struct {
	Request      requestView        `json:"changeRequest"`
	Contributors []personView       `json:"contributors"`
	Approvals    []evidenceApproval `json:"approvals"`
	Bases        jsontext.Value     `json:"bases"`
	Events       []shape.EventView  `json:"events"`
	Next         string             `json:"next,omitzero"` // cursor of the events before these
}

// maxEvidence is how many events the evidence has. They are at most as long as a page of the log.
const maxEvidence = 100

// An evidenceApproval is an approval with the revision that it is for.
type evidenceApproval struct {
	approvalView
	Revision string `json:"revision"`
}

// readEvidence returns all that is known of a request, as a file.
func readEvidence(tx *httpapi.Tx, at inRequest) (evidence, error) {
	p, r := at.findToRead(tx)
	bases, err := json.Marshal(r.Bases, json.Deterministic(true))
	if err != nil {
		return evidence{}, err
	}
	history := tx.Log(flags.LogQuery{Of: r.Key(), Limit: maxEvidence, Cursor: tx.Query().Get("cursor")})
	events := httpapi.Each(history.Events, shape.EventViewOf)
	slices.Reverse(events)
	tx.Download("change-request-" + strconv.FormatInt(r.ID, 10) + ".json")
	return evidence{
		Request: viewOf(tx, p, r), Contributors: httpapi.Each(r.Contributors, personViewOf),
		Approvals: httpapi.Each(r.Approvals, func(a review.Approval) evidenceApproval {
			return evidenceApproval{approvalView{personViewOf(a.By), shape.Time(a.At)}, a.Revision}
		}),
		Bases: bases, Events: events, Next: history.Next,
	}, nil
}
