package playground

import (
	"net/url"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/evaluate"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/shape"
)

// A playgroundView is how flags evaluate.
type playgroundView struct {
	Features []playgroundFeature `json:"features"`
	Input    playgroundInput     `json:"input"`
	Warnings *playgroundWarnings `json:"warnings,omitzero"`
}

// A playgroundInput repeats the request.
type playgroundInput struct {
	Environment string         `json:"environment"`
	Projects    jsontext.Value `json:"projects,omitzero"`
	Context     jsontext.Value `json:"context"`
}

// playgroundWarnings has what was ignored.
type playgroundWarnings struct {
	InvalidContextProperties []string `json:"invalidContextProperties"`
}

// An advancedPlaygroundView is how flags evaluate in several environments for several contexts.
type advancedPlaygroundView struct {
	Features []advancedPlaygroundFeature `json:"features"`
	Input    advancedPlaygroundInput     `json:"input"`
	Warnings *playgroundWarnings         `json:"warnings,omitzero"`
}

// An advancedPlaygroundInput repeats the request.
type advancedPlaygroundInput struct {
	Environments []string       `json:"environments"`
	Projects     jsontext.Value `json:"projects,omitzero"`
	Context      jsontext.Value `json:"context"`
}

// An advancedPlaygroundFeature is a flag with a result for each context, by environment.
type advancedPlaygroundFeature struct {
	Name         string                                    `json:"name"`
	ProjectID    string                                    `json:"projectId"`
	Environments map[string][]playgroundEnvironmentFeature `json:"environments"`
}

// A playgroundEnvironmentFeature is how a flag evaluates in an environment for a context.
type playgroundEnvironmentFeature struct {
	playgroundFeature
	Environment string            `json:"environment"`
	Context     map[string]string `json:"context"`
}

// A playgroundFeature is how a flag evaluates.
type playgroundFeature struct {
	Name                          string               `json:"name"`
	ProjectID                     string               `json:"projectId"`
	IsEnabled                     bool                 `json:"isEnabled"`
	IsEnabledInCurrentEnvironment bool                 `json:"isEnabledInCurrentEnvironment"`
	HasUnsatisfiedDependency      bool                 `json:"hasUnsatisfiedDependency"`
	UnsatisfiedDependency         *shape.Dependency    `json:"unsatisfiedDependency,omitzero"` // the first one; Unleash has no such field
	Variant                       playgroundVariant    `json:"variant"`
	Variants                      []shape.Variant      `json:"variants"`
	Strategies                    playgroundStrategies `json:"strategies"`
}

// A playgroundVariant is the variant that an application gets. FeatureEnabled is there twice because SDKs read either name.
type playgroundVariant struct {
	chosenVariant
	FeatureEnabled      bool `json:"feature_enabled"`
	FeatureEnabledCamel bool `json:"featureEnabled"`
}

// A chosenVariant is a variant without its weight.
type chosenVariant struct {
	Name    string         `json:"name"`
	Enabled bool           `json:"enabled"`
	Payload *shape.Payload `json:"payload,omitzero"`
}

// playgroundStrategies has all strategies of a flag in an environment.
type playgroundStrategies struct {
	Result verdict              `json:"result"` // of all of them together
	Data   []playgroundStrategy `json:"data"`
}

// A playgroundStrategy is what a strategy does alone.
type playgroundStrategy struct {
	ID          string                   `json:"id"`
	Name        string                   `json:"name"`
	Title       *string                  `json:"title,omitzero"`
	Disabled    bool                     `json:"disabled"`
	Parameters  map[string]string        `json:"parameters"`
	Result      playgroundStrategyResult `json:"result"`
	Constraints []playgroundConstraint   `json:"constraints"`
	Segments    []playgroundSegment      `json:"segments"`
	Links       playgroundLinks          `json:"links"`
}

type playgroundLinks struct {
	Edit string `json:"edit"` // path in the console
}

// A playgroundStrategyResult is the result of a strategy, with its variant if it has its own variants.
type playgroundStrategyResult struct {
	Enabled          verdict         `json:"enabled"`
	EvaluationStatus string          `json:"evaluationStatus"`
	Variant          *chosenVariant  `json:"variant,omitzero"`
	Variants         []shape.Variant `json:"variants,omitempty"`
}

// The values of EvaluationStatus.
const (
	complete    = "complete"
	incomplete  = "incomplete"  // the strategy is evaluated by applications only
	unevaluated = "unevaluated" // the strategy is disabled
)

// A playgroundSegment is a segment of a strategy.
type playgroundSegment struct {
	ID          int64                  `json:"id"`
	Name        string                 `json:"name"`
	Result      bool                   `json:"result"`
	Constraints []playgroundConstraint `json:"constraints"`
}

// A playgroundConstraint is a constraint, and whether the context satisfies it.
type playgroundConstraint struct {
	shape.Constraint
	Result bool `json:"result"`
}

// A verdict is true, false or unknown.
type verdict string

const (
	verdictTrue    verdict = "true"
	verdictFalse   verdict = "false"
	verdictUnknown verdict = "unknown"
)

func verdictOf(result bool) verdict {
	if result {
		return verdictTrue
	}
	return verdictFalse
}

// MarshalJSONTo writes true, false or "unknown".
func (v verdict) MarshalJSONTo(e *jsontext.Encoder) error {
	if v == verdictUnknown {
		return e.WriteToken(jsontext.String(string(v)))
	}
	return e.WriteToken(jsontext.Bool(v == verdictTrue))
}

// view returns how a flag evaluates.
func (r *runner) view(f *flags.Feature, environment string, fe flags.FeatureEnvironment, enabled bool, trace evaluate.Trace) playgroundFeature {
	view := playgroundFeature{
		Name: f.Name, ProjectID: f.Project, IsEnabled: trace.Enabled, IsEnabledInCurrentEnvironment: enabled,
		HasUnsatisfiedDependency: trace.Parent != "",
		Variant:                  playgroundVariant{variantOf(trace.Variant), trace.Enabled, trace.Enabled},
		Variants:                 shape.Variants(fe.Variants),
		Strategies:               playgroundStrategies{Data: []playgroundStrategy{}},
	}
	if d, err := f.Dependency(trace.Parent); err == nil {
		view.UnsatisfiedDependency = new(shape.Dependency(d))
	}
	if i := matching(trace.Strategies); i >= 0 && len(fe.Strategies[i].Variants) > 0 {
		view.Variants = shape.Variants(fe.Strategies[i].Variants)
	}
	for i, s := range fe.Strategies {
		view.Strategies.Data = append(view.Strategies.Data, r.viewStrategy(f, environment, s, trace.Strategies[i]))
	}
	view.Strategies.Result = together(fe.Strategies, trace.Strategies)
	return view
}

// matching returns the index of the first strategy that matches, or -1. A missing segment turns the flag off.
func matching(checks []evaluate.Check) int {
	decides := func(c evaluate.Check) bool {
		return c.Outcome.Kind == evaluate.Matched || c.Outcome.Kind == evaluate.SegmentMissing
	}
	if i := slices.IndexFunc(checks, decides); i >= 0 && checks[i].Outcome.Kind == evaluate.Matched {
		return i
	}
	return -1
}

// together returns the result of all strategies that are not disabled.
func together(strategies []flags.Strategy, checks []evaluate.Check) verdict {
	if matching(checks) >= 0 {
		return verdictTrue
	}
	for i, check := range checks {
		if !strategies[i].Disabled && isOpen(strategies[i], check) && check.Satisfied() {
			return verdictUnknown
		}
	}
	return verdictFalse
}

// isOpen reports whether only an application can evaluate a strategy: one that is not built in, or that depends on the name of
// the host.
func isOpen(s flags.Strategy, check evaluate.Check) bool {
	return check.Outcome.Kind == evaluate.StrategyUnknown || s.Name == "applicationHostname"
}

func (r *runner) viewStrategy(f *flags.Feature, environment string, s flags.Strategy, check evaluate.Check) playgroundStrategy {
	view := playgroundStrategy{
		ID: s.ID, Name: s.Name, Title: s.Title, Disabled: s.Disabled, Parameters: s.Parameters,
		Result:      strategyResult(s, check),
		Constraints: viewConstraints(s.Constraints, check.Constraints),
		Segments:    httpapi.Each(check.Segments, r.viewSegment),
	}
	query := url.Values{"environmentId": {environment}, "strategyId": {s.ID}}
	view.Links.Edit = "/projects/" + url.PathEscape(f.Project) + "/features/" + url.PathEscape(f.Name) + "/strategies/edit?" + query.Encode()
	return view
}

func strategyResult(s flags.Strategy, check evaluate.Check) playgroundStrategyResult {
	switch {
	case s.Disabled:
		return playgroundStrategyResult{Enabled: verdictUnknown, EvaluationStatus: unevaluated}
	case isOpen(s, check) && check.Satisfied():
		return playgroundStrategyResult{Enabled: verdictUnknown, EvaluationStatus: incomplete}
	case isOpen(s, check):
		return playgroundStrategyResult{Enabled: verdictFalse, EvaluationStatus: incomplete}
	}
	result := playgroundStrategyResult{Enabled: verdictOf(check.Outcome.Kind == evaluate.Matched), EvaluationStatus: complete}
	if len(s.Variants) > 0 {
		variant := variantOf(check.Variant)
		result.Variant, result.Variants = &variant, shape.Variants(s.Variants)
	}
	return result
}

func (r *runner) viewSegment(check evaluate.SegmentCheck) playgroundSegment {
	view := playgroundSegment{ID: check.ID, Result: check.Satisfied(), Constraints: []playgroundConstraint{}}
	if s := r.segments[check.ID]; s != nil {
		view.Name, view.Constraints = s.Name, viewConstraints(s.Constraints, check.Constraints)
	}
	return view
}

func viewConstraints(constraints []flags.Constraint, satisfied []bool) []playgroundConstraint {
	view := make([]playgroundConstraint, len(constraints))
	for i, c := range constraints {
		view[i] = playgroundConstraint{shape.ConstraintOf(c), satisfied[i]}
	}
	return view
}

func variantOf(v *evaluate.Variant) chosenVariant {
	if v == nil {
		return chosenVariant{Name: evaluate.DisabledVariant}
	}
	return chosenVariant{Name: v.Name, Enabled: true, Payload: (*shape.Payload)(v.Payload)}
}
