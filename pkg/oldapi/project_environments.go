package oldapi

import (
	"maps"
	"net/http"
	"strconv"

	"guidon/pkg/events"
	"guidon/pkg/flags"
)

// changeRequestsAreOff is the answer to whoever wants to have changes reviewed here.
const changeRequestsAreOff = "change requests are off in this service and cannot be enabled"

// attachedSegmentKeys names the segments of the default strategy.
func attachedSegmentKeys(c *call, in attachEnvironmentBody) []flags.Key {
	if in.DefaultStrategy.Value == nil {
		return nil
	}
	return newSegmentKeys(c, *in.DefaultStrategy.Value)
}

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
		s := in.DefaultStrategy.Value.over(flags.Strategy{})
		var problems flags.Problems
		s.CheckSegments(defaultStrategyPath+"/segments", nil, c.project, c.segmentNamed, &problems)
		if err := problems.Err(); err != nil {
			return decision{}, err
		}
		p.SetDefaultStrategy(flags.ProjectEnvironment{Environment: *env}, s)
		if err := p.CheckDefaultStrategies(c.project); err != nil {
			return decision{}, err
		}
	}
	return c.changes(c.project, p, events.ProjectEnvironmentAdded(p, env.Name), http.StatusOK, nil)
}

func detachEnvironment(c *call) (decision, error) {
	p := c.project.Clone()
	p.Detach(c.environment)
	return c.changesProject(p, events.ProjectEnvironmentRemoved(c.project, c.environment.Name), nil)
}

func setDefaultStrategy(c *call, in newStrategyBody) (decision, error) {
	p, s := c.project.Clone(), in.over(flags.Strategy{})
	if err := c.checkSegments(s, nil); err != nil {
		return decision{}, err
	}
	answer := defaultStrategyViewOf(p.SetDefaultStrategy(c.environment, s))
	if err := p.CheckDefaultStrategies(c.project); err != nil {
		return decision{}, err
	}
	return c.changesProject(p, events.DefaultStrategyUpdated(c.project, p, c.environment.Name), answer)
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
		problems.CheckAt(defaultStrategyPath, func(below *flags.Problems) { strategy.check(limits, below) })
	}
}

// review finds what the registry of strategy types tells about the default strategy.
func (b attachEnvironmentBody) review(c *call, problems *flags.Problems) {
	if strategy := b.DefaultStrategy.Value; strategy != nil {
		problems.CheckAt(defaultStrategyPath, func(below *flags.Problems) { strategy.review(c, below) })
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
