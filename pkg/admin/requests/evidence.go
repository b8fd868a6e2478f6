package requests

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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
}

// An evidenceApproval is an approval with the revision that it is for.
type evidenceApproval struct {
	approvalView
	Revision string `json:"revision"`
}

// readEvidence returns all that is known of a request, as a file.
func readEvidence(tx *httpapi.Tx, at inRequest) (evidence, error) {
	p, r := at.find(tx)
	bases, err := json.Marshal(r.Bases, json.Deterministic(true))
	if err != nil {
		return evidence{}, err
	}
	tx.Download("change-request-" + strconv.FormatInt(r.ID, 10) + ".json")
	return evidence{
		Request: viewOf(tx, p, r), Contributors: httpapi.Each(r.Contributors, personViewOf),
		Approvals: httpapi.Each(r.Approvals, func(a review.Approval) evidenceApproval {
			return evidenceApproval{approvalView{personViewOf(a.By), shape.Time(a.At)}, a.Revision}
		}),
		Bases: bases, Events: httpapi.Each(tx.History(r), shape.EventViewOf),
	}, nil
}
