package shape

import (
	"time"

	"guidon/pkg/flags"
)

// A MetadataView is what every response and event says of a flag.
type MetadataView struct {
	Name           string            `json:"name"`
	Type           flags.FeatureType `json:"type"`
	Description    *string           `json:"description"`
	Project        string            `json:"project"`
	Stale          bool              `json:"stale"`
	ImpressionData bool              `json:"impressionData"`
	CreatedAt      Time              `json:"createdAt"`
	LastSeenAt     *Time             `json:"lastSeenAt"`
	Owner          string            `json:"owner,omitzero"`
	flags.Typing
}

// NewMetadataView returns the metadata of a flag or of a row of a list.
func NewMetadataView(name, project string, m flags.Metadata, createdAt, lastSeenAt time.Time) MetadataView {
	return MetadataView{
		Name: name, Type: m.Type, Description: m.Description, Project: project, Stale: m.Stale,
		ImpressionData: m.ImpressionData, CreatedAt: Time(createdAt), LastSeenAt: TimeOrNull(lastSeenAt), Owner: m.Owner,
		Typing: m.Typing,
	}
}

// A LinkView is a link of a flag.
type LinkView struct {
	ID    string  `json:"id"`
	URL   string  `json:"url"`
	Title *string `json:"title"`
}

// LinkViews returns the links of a flag.
func LinkViews(list []flags.Link) []LinkView { return Each(list, LinkViewOf) }

// LinkViewOf returns a link of a flag.
func LinkViewOf(l flags.Link) LinkView { return LinkView(l) }

// MetadataViewOf returns the metadata of a flag.
func MetadataViewOf(f *flags.Feature) MetadataView {
	return NewMetadataView(f.Name, f.Project, f.Metadata, f.CreatedAt, f.LastSeenAt)
}

// A PhaseView is a stage that a flag has entered.
type PhaseView struct {
	Stage       flags.Stage            `json:"stage"`
	EnteredAt   Time                   `json:"enteredStageAt"`
	Status      flags.CompletionStatus `json:"status,omitzero"` // of a completed flag, if a user gave one
	StatusValue string                 `json:"statusValue,omitzero"`
}

// PhaseViewOf returns a stage that a flag has entered.
func PhaseViewOf(p flags.Phase) PhaseView {
	return PhaseView{p.Stage, Time(p.EnteredAt), p.Status, p.Value}
}

// A StrategyView is a strategy of a flag (contract: Activation strategy).
type StrategyView struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Title       *string           `json:"title"`
	Disabled    bool              `json:"disabled"`
	FeatureName string            `json:"featureName"`
	SortOrder   float64           `json:"sortOrder"`
	Segments    []int64           `json:"segments"`
	Constraints []Constraint      `json:"constraints"`
	Variants    []Variant         `json:"variants"`
	Parameters  map[string]string `json:"parameters"`
}

// StrategyViewOf returns a strategy of the flag of that name.
func StrategyViewOf(s flags.Strategy, feature string) StrategyView {
	return StrategyView{
		ID: s.ID, Name: s.Name, Title: s.Title, Disabled: s.Disabled, FeatureName: feature, SortOrder: s.SortOrder,
		Segments: s.Segments, Constraints: Constraints(s.Constraints), Variants: Variants(s.Variants), Parameters: s.Parameters,
	}
}

// StrategyViews returns the strategies of a flag in an environment.
func StrategyViews(f *flags.Feature, env flags.ProjectEnvironment) []StrategyView {
	return Each(f.In(env).Strategies, func(s flags.Strategy) StrategyView { return StrategyViewOf(s, f.Name) })
}

// A DefaultStrategyView is the strategy that is added to a flag without strategies when it is enabled (contract: Project
// environment). Until then it belongs to no flag and has no ID.
type DefaultStrategyView struct {
	Name        string            `json:"name"`
	Title       *string           `json:"title"`
	Disabled    bool              `json:"disabled"`
	SortOrder   float64           `json:"sortOrder"`
	Segments    []int64           `json:"segments"`
	Constraints []Constraint      `json:"constraints"`
	Variants    []Variant         `json:"variants"`
	Parameters  map[string]string `json:"parameters"`
}

// DefaultStrategyViewOf returns a default strategy; nil for none.
func DefaultStrategyViewOf(s *flags.Strategy) *DefaultStrategyView {
	if s == nil {
		return nil
	}
	return &DefaultStrategyView{
		Name: s.Name, Title: s.Title, Disabled: s.Disabled, SortOrder: s.SortOrder, Segments: s.Segments,
		Constraints: Constraints(s.Constraints), Variants: Variants(s.Variants), Parameters: s.Parameters,
	}
}
