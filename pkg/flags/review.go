package flags

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// A ReviewRule says that change requests are on for an environment of a project: what applications see there only changes after
// others have approved it, or by a caller who may skip that. It is kept beside the attachment of the environment, so that
// detaching the environment and attaching it again keeps it.
type ReviewRule struct {
	EnvironmentUID string `json:"environment"` // UID of the environment: the rule does not apply to a later one of that name
	Approvals      int    `json:"approvals"`   // how many a change request needs, at least 1
}

// MaxApprovals is how many approvals a change request can need.
const MaxApprovals = 10

// A ReviewPolicy is what an environment requires of the change requests in all projects.
type ReviewPolicy struct {
	RequiredApprovals int  `json:"requiredApprovals,omitzero"` // no project can require fewer or switch change requests off; 0 for no such rule
	NobodySkips       bool `json:"nobodySkips,omitzero"`       // even administrators cannot skip change requests, except with a reason (break glass)
	OffAllowed        bool `json:"offAllowed,omitzero"`        // switching a flag off on which no other depends needs no change request
}

// Review returns the rule of the project for the environment; false if change requests are off there.
func (p *Project) Review(env Environment) (ReviewRule, bool) {
	rule, on := p.Reviews[env.Name]
	return rule, on && rule.EnvironmentUID == env.UID
}

// SetReview switches change requests on or off in an environment. approvals is how many are required, within 1 and MaxApprovals;
// 0 keeps the number, or takes the lowest that is allowed. registry must be a clone of the registry of environments: it is changed
// when change requests are switched on, so that changes of flags that were decided before that cannot be committed after it.
//
// It returns Conflict if the environment requires more approvals.
func (p *Project) SetReview(env Environment, on bool, approvals int, registry *Environments, at time.Time) error {
	before, was := p.Review(env)
	if !on {
		if env.RequiredApprovals > 0 {
			return Errorf(Conflict, "environment %q requires %s of change requests, so they cannot be switched off in project %q; "+
				"someone with the permission UPDATE_ENVIRONMENT can lower requiredApprovals of the environment", env.Name, countApprovals(env.RequiredApprovals), p.ID)
		}
		if was {
			p.Reviews = maps.Clone(p.Reviews)
			delete(p.Reviews, env.Name)
		}
		return nil
	}
	if approvals == 0 {
		approvals = max(before.Approvals, env.RequiredApprovals)
	}
	approvals = min(max(approvals, 1), MaxApprovals)
	if approvals < env.RequiredApprovals {
		return Errorf(Conflict, "environment %q requires %s of change requests, and %d is fewer; "+
			"someone with the permission UPDATE_ENVIRONMENT can lower requiredApprovals of the environment", env.Name, countApprovals(env.RequiredApprovals), approvals)
	}
	p.Reviews = maps.Clone(p.Reviews)
	if p.Reviews == nil {
		p.Reviews = map[string]ReviewRule{}
	}
	p.Reviews[env.Name] = ReviewRule{env.UID, approvals}
	if !was {
		p.ReviewChange = registry.noteReview(p.UID, at)
	}
	return nil
}

func countApprovals(n int) string {
	if n == 1 {
		return "1 approval"
	}
	return strconv.Itoa(n) + " approvals"
}

// A ReviewChange is that a project has switched change requests on, or frozen an environment.
type ReviewChange struct {
	ProjectUID string    `json:"project"`
	Number     int64     `json:"number"` // the value of Environments.ReviewChanges, which Project.ReviewChange has too
	At         time.Time `json:"at"`
}

// reviewMemory is how long the registry remembers a ReviewChange. It is much longer than a request takes, so
// that each request that began before is told.
const reviewMemory = 10 * time.Minute

// noteReview notes a ReviewChange of a project, and returns its number.
func (e *Environments) noteReview(projectUID string, at time.Time) int64 {
	e.ReviewChanges++
	e.RecentReviews = without(e.RecentReviews, func(c ReviewChange) bool {
		return c.ProjectUID == projectUID || at.Sub(c.At) > reviewMemory
	})
	e.RecentReviews = append(e.RecentReviews, ReviewChange{projectUID, e.ReviewChanges, at})
	return e.ReviewChanges
}

// Knows reports whether what was read of a project is as recent as the registry, as far as change requests and freezes are concerned.
func (e *Environments) Knows(p *Project) bool {
	return !slices.ContainsFunc(e.RecentReviews, func(c ReviewChange) bool { return c.ProjectUID == p.UID && c.Number > p.ReviewChange })
}

// SetReviewPolicy sets what an environment requires. It returns NotFound if there is no environment of that name.
func (e *Environments) SetReviewPolicy(name string, policy ReviewPolicy) error {
	env, err := e.Get(name)
	if err != nil {
		return err
	}
	if env.ReviewPolicy != policy {
		e.ReviewChanges++ // a change that was decided under the old policy cannot be committed any more
		env.ReviewPolicy = policy
	}
	return nil
}
