package httpapi

import (
	"maps"
	"net/http"
	"strconv"

	"guidon/pkg/flags"
)

// changeRequestsAreOff is the answer to whoever wants to have changes reviewed here.
const changeRequestsAreOff = "change requests are off in this service and cannot be enabled"

func attachEnvironment(c *call, in attachEnvironmentBody) (decision, error) {
	env := c.registry.Find(in.Environment)
	if env == nil {
		return decision{}, flags.Problems{{Path: "/environment", Message: "there is no environment " + strconv.Quote(in.Environment)}}.Err()
	}
	p := c.project.Clone()
	if err := p.Attach(*env, flags.ShortID(c.newID())); err != nil {
		return decision{}, err
	}
	if in.DefaultStrategy.Value != nil {
		p.SetDefaultStrategy(flags.ProjectEnvironment{Environment: *env}, in.DefaultStrategy.Value.over(flags.Strategy{}))
	}
	event := flags.Event{Type: flags.ProjectEnvironmentAdded, Project: p.ID, Environment: env.Name}
	return c.changes(c.project, p, event, http.StatusOK, nil)
}

func detachEnvironment(c *call) (decision, error) {
	p := c.project.Clone()
	p.Detach(c.environment)
	return c.changesProject(p, flags.Event{Type: flags.ProjectEnvironmentRemoved}, nil)
}

func setDefaultStrategy(c *call, in newStrategyBody) (decision, error) {
	p := c.project.Clone()
	answer := defaultStrategyViewOf(p.SetDefaultStrategy(c.environment, in.over(flags.Strategy{})))
	event := flags.Event{Type: flags.DefaultStrategyUpdated, Data: answer}
	if before := c.environment.Attachment.DefaultStrategy; before != nil {
		event.PreData = defaultStrategyViewOf(*before)
	}
	return c.changesProject(p, event, answer)
}

// readChangeRequests lists the environments whose changes are reviewed: none. Terraform asks.
func readChangeRequests(*call) (decision, error) { return ok([]struct{}{}) }

// configureChangeRequests agrees that they are off.
func configureChangeRequests(*call, changeRequestsBody) (decision, error) {
	return decision{status: http.StatusNoContent}, nil
}

// An attachEnvironmentBody names the environment to add to a project.
type attachEnvironmentBody struct {
	Environment     string                  `json:"environment"`
	ChangeRequests  maybe[bool]             `json:"changeRequestsEnabled"`
	DefaultStrategy maybe[*newStrategyBody] `json:"defaultStrategy"`
}

const defaultStrategyPath = "/defaultStrategy"

func (b attachEnvironmentBody) check(limits flags.Limits, problems *flags.Problems) {
	checkName("/environment", b.Environment, problems)
	if b.ChangeRequests.Value {
		problems.Add("/changeRequestsEnabled", changeRequestsAreOff)
	}
	if strategy := b.DefaultStrategy.Value; strategy != nil {
		problems.Under(defaultStrategyPath, func(below *flags.Problems) { strategy.check(limits, below) })
	}
}

// review finds what the registry of strategy types tells about the default strategy.
func (b attachEnvironmentBody) review(c *call, problems *flags.Problems) {
	if strategy := b.DefaultStrategy.Value; strategy != nil {
		problems.Under(defaultStrategyPath, func(below *flags.Problems) { strategy.review(c, below) })
	}
}

// A changeRequestsBody says whether changes in an environment are reviewed.
type changeRequestsBody struct {
	Enabled maybe[bool] `json:"changeRequestsEnabled"`
}

func (b changeRequestsBody) check(_ flags.Limits, problems *flags.Problems) {
	switch {
	case !b.Enabled.Set:
		problems.Add("/changeRequestsEnabled", "is required")
	case b.Enabled.Value:
		problems.Add("/changeRequestsEnabled", changeRequestsAreOff)
	}
}

// A defaultStrategyView is what is added to a flag without strategies when it is switched on (contract: Project
// environment). It is of no flag, and has no id, until then.
type defaultStrategyView struct {
	Name        string            `json:"name"`
	Title       *string           `json:"title"`
	Disabled    bool              `json:"disabled"`
	SortOrder   float64           `json:"sortOrder"`
	Segments    []int64           `json:"segments"`
	Constraints []constraintView  `json:"constraints"`
	Variants    []variantView     `json:"variants"`
	Parameters  map[string]string `json:"parameters"`
}

func defaultStrategyViewOf(s flags.Strategy) defaultStrategyView {
	return defaultStrategyView{
		Name: s.Name, Title: s.Title, Disabled: s.Disabled, SortOrder: s.SortOrder, Segments: s.Segments,
		Constraints: each(s.Constraints, constraintViewOf), Variants: variantViews(s.Variants), Parameters: maps.Clone(s.Parameters),
	}
}
