package projects

import (
	"strconv"

	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
)

// readReviews lists the environments of a project, and where change requests are on or a freeze is in effect. The Terraform provider reads it.
func readReviews(tx *httpapi.Tx, at httpapi.InProject) ([]reviewView, error) {
	p := at.Project(tx)
	return httpapi.Each(tx.ProjectEnvironments(p), func(env flags.ProjectEnvironment) reviewView {
		view := reviewView{Environment: env.Name, Type: env.Type}
		if rule, on := p.Review(env.Environment); on {
			approvals := max(rule.Approvals, env.RequiredApprovals)
			view.Enabled, view.Approvals, view.OffAllowed = true, &approvals, env.OffAllowed
		}
		view.Freeze = frozenViewOf(tx, p, env.Environment)
		return view
	}), nil
}

// configureReviews switches change requests on or off in an environment of a project.
func configureReviews(tx *httpapi.Tx, at httpapi.InProjectEnvironment, in reviewBody) error {
	p, env := at.Find(tx)
	if err := setReview(tx, p, env.Environment, in.Enabled.Value, clampApprovals(in.Approvals)); err != nil {
		return err
	}
	tx.Save(events.ReviewsConfigured(httpapi.Was(tx, p), p, env.Environment), withRegistry(tx, p)...)
	return nil
}

// setReview is SetReview of the project with the registry of the transaction. The project must be saved with withRegistry.
func setReview(tx *httpapi.Tx, p *flags.Project, env flags.Environment, on bool, approvals int) error {
	return p.SetReview(env, on, approvals, tx.Environments(), tx.Now)
}

// withRegistry adds the registry of environments to what is saved with a project if review settings changed. Otherwise the commit assumes
// that the registry still requires the same.
func withRegistry(tx *httpapi.Tx, p *flags.Project) []flags.Aggregate {
	registry := tx.Environments()
	if registry.ReviewChanges == httpapi.Was(tx, registry).ReviewChanges {
		tx.Assume(registry)
		return []flags.Aggregate{p}
	}
	return []flags.Aggregate{p, registry}
}

// setReviews switches change requests on where the body of a new project says so. Invalid if the project does not get that
// environment.
func (b createProjectBody) setReviews(tx *httpapi.Tx, p *flags.Project) error {
	var problems flags.Problems
	for i, in := range b.ChangeRequests.Value {
		env := tx.Environments().Find(in.Name)
		if env == nil || !p.HasEnvironment(*env) {
			problems.Add("/changeRequestEnvironments/"+strconv.Itoa(i)+"/name", "%q is no environment of the new project", jsonbody.Shorten(in.Name))
			continue
		}
		if err := setReview(tx, p, *env, true, clampApprovals(in.Approvals)); err != nil {
			return err
		}
	}
	return problems.Err()
}

// clampApprovals returns the number of approvals in a body, within the limits; 0 if it has none.
func clampApprovals(n jsonbody.Maybe[*int64]) int {
	if n.Value == nil {
		return 0
	}
	return int(min(max(*n.Value, 1), flags.MaxApprovals))
}

// A reviewBody switches change requests in an environment of a project on or off.
type reviewBody struct {
	Enabled   jsonbody.Maybe[bool]   `json:"changeRequestsEnabled"`
	Approvals jsonbody.Maybe[*int64] `json:"requiredApprovals"` // numbers outside of 1 to 10 are the nearest of these
}

func (b reviewBody) Check(_ flags.Limits, problems *flags.Problems) {
	if !b.Enabled.Set {
		problems.Add("/changeRequestsEnabled", "is required")
	}
}

// A reviewView says whether change requests are on in an environment of a project, and whether it is frozen.
type reviewView struct {
	Environment string      `json:"environment"`
	Type        string      `json:"type"`
	Enabled     bool        `json:"changeRequestEnabled"`
	Approvals   *int        `json:"requiredApprovals"`
	OffAllowed  bool        `json:"offAllowed,omitzero"`
	Freeze      *frozenView `json:"freeze,omitzero"` // nil if it is not frozen
}
