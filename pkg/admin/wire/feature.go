package wire

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
	_ "guidon/pkg/valueschema" // checks flags of the valueType object
)

// A MetadataBody contains a flag's metadata. Fields that the request omits keep their values.
type MetadataBody struct {
	Type           jsonbody.Maybe[string]  `json:"type"`
	Description    jsonbody.Maybe[*string] `json:"description"`
	Stale          jsonbody.Maybe[bool]    `json:"stale"`
	ImpressionData jsonbody.Maybe[bool]    `json:"impressionData"`
	Owner          jsonbody.Maybe[*string] `json:"owner"`
	TypingBody
}

// A TypingBody contains the type of a flag's values. Without the type, the default value and the schema are removed, too.
type TypingBody struct {
	ValueType    jsonbody.Maybe[*string]         `json:"valueType"`
	DefaultValue jsonbody.Maybe[*jsontext.Value] `json:"defaultValue"`
	ValueSchema  jsonbody.Maybe[*jsontext.Value] `json:"valueSchema"`
}

// over returns t with the fields of the body applied. What is wrong with it is found when the flag is saved.
func (b TypingBody) over(t flags.Typing) flags.Typing {
	t.ValueType = flags.ValueType(TextOver(b.ValueType, string(t.ValueType)))
	if t.ValueType == "" {
		t = flags.Typing{}
	}
	t.DefaultValue, t.ValueSchema = valueOver(b.DefaultValue, t.DefaultValue), valueOver(b.ValueSchema, t.ValueSchema)
	return t
}

// valueOver returns a JSON value of a body as it is stored, or the present one if the body omits it; nil for null.
func valueOver(field jsonbody.Maybe[*jsontext.Value], present jsontext.Value) jsontext.Value {
	switch {
	case !field.Set:
		return present
	case field.Value == nil:
		return nil
	}
	value, err := jsontext.AppendFormat(nil, *field.Value)
	if err != nil {
		return *field.Value
	}
	return value
}

func (b MetadataBody) Check(_ flags.Limits, problems *flags.Problems) {
	CheckType(b.Type, problems)
	b.ApplyTo(flags.Metadata{}).CheckTexts(problems)
}

// ApplyTo returns m with the fields of the body applied.
func (b MetadataBody) ApplyTo(m flags.Metadata) flags.Metadata {
	return flags.Metadata{
		Type:           flags.FeatureType(b.Type.Or(string(m.Type))),
		Description:    b.Description.Or(m.Description),
		Stale:          b.Stale.Or(m.Stale),
		ImpressionData: b.ImpressionData.Or(m.ImpressionData),
		Owner:          TextOver(b.Owner, m.Owner),
		Typing:         b.over(m.Typing),
	}
}

// CheckName checks the name of a flag, project or environment.
func CheckName(path, name string, problems *flags.Problems) {
	if fault := flags.CheckName(name); fault != "" {
		problems.Add(path, "%s", fault)
	}
}

// CheckType checks the type of a flag.
func CheckType(name jsonbody.Maybe[string], problems *flags.Problems) {
	CheckTypeAt("/type", name, problems)
}

// CheckTypeAt checks the type of a flag at a place in the body.
func CheckTypeAt(path string, name jsonbody.Maybe[string], problems *flags.Problems) {
	if name.Set && !slices.Contains(flags.FeatureTypes(), flags.FeatureType(name.Value)) {
		problems.Add(path, "%q must be one of %s", jsonbody.Shorten(name.Value), strings.Join(httpapi.Each(flags.FeatureTypes(), ToString), ", "))
	}
}

// ToString converts to a string.
func ToString[T ~string](s T) string { return string(s) }

// A FeatureRow is a flag in a list (contract: Project overview).
type FeatureRow struct {
	Name           string            `json:"name"`
	Type           flags.FeatureType `json:"type"`
	Description    *string           `json:"description"`
	Stale          bool              `json:"stale"`
	ImpressionData bool              `json:"impressionData"`
	CreatedAt      shape.Time        `json:"createdAt"`
	LastSeenAt     *shape.Time       `json:"lastSeenAt"`
	Favorite       bool              `json:"favorite"`
	Owner          string            `json:"owner,omitzero"`
	ValueType      flags.ValueType   `json:"valueType,omitzero"`
	Environments   []RowEnvironment  `json:"environments"`
	Tags           []shape.Tag       `json:"tags,omitempty"` // only of a flag that has some
}

// A RowEnvironment is what lists say of a flag in one environment.
type RowEnvironment struct {
	Name                 string      `json:"name"`
	DisplayName          string      `json:"displayName"`
	Enabled              bool        `json:"enabled"`
	Type                 string      `json:"type"`
	SortOrder            int64       `json:"sortOrder"`
	VariantCount         int         `json:"variantCount"`
	HasStrategies        bool        `json:"hasStrategies"`
	HasEnabledStrategies bool        `json:"hasEnabledStrategies"`
	LastSeenAt           *shape.Time `json:"lastSeenAt"`
	Rollout              *int        `json:"rollout,omitempty"` // in lists only, unless everyone gets the flag while it is on
	Targeted             bool        `json:"targeted,omitzero"` // with Rollout

	// Only with a release plan.
	MilestoneName  string          `json:"milestoneName,omitzero"` // of the one that has run last
	MilestoneOrder *int            `json:"milestoneOrder,omitzero"`
	Milestones     int             `json:"totalMilestones,omitzero"`
	PlanState      flags.PlanState `json:"planState,omitzero"`
	PlanNextAt     *shape.Time     `json:"planNextAt,omitzero"` // when the next milestone starts by itself
}

// RowEnvironmentOf returns a flag in one environment as lists have it.
func RowEnvironmentOf(s flags.EnvironmentSummary, enabled bool, env flags.ProjectEnvironment) RowEnvironment {
	row := RowEnvironment{
		Name: env.Name, DisplayName: env.Name, Enabled: enabled, Type: env.Type, SortOrder: env.SortOrder,
		VariantCount: s.Variants, HasStrategies: s.Strategies > 0, HasEnabledStrategies: s.EnabledStrategies > 0,
		LastSeenAt: shape.TimeOrNull(s.LastSeenAt),
	}
	if plan := s.PlanIn(env); plan != nil {
		row.MilestoneName, row.MilestoneOrder, row.Milestones, row.PlanState = plan.Milestone, new(max(plan.Active-1, 0)), plan.Total, plan.State(enabled)
		row.PlanNextAt = shape.TimeOrNull(plan.NextAt)
	}
	return row
}

// FeatureRowOf returns a flag as lists have it. favorites are those of the caller.
func FeatureRowOf(s flags.FeatureSummary, environments []flags.ProjectEnvironment, favorites *flags.Favorites) FeatureRow {
	return FeatureRow{
		Name: s.Name, Type: s.Type, Description: s.Description, Stale: s.Stale, ImpressionData: s.ImpressionData,
		CreatedAt: shape.Time(s.CreatedAt), LastSeenAt: shape.TimeOrNull(s.LastSeenAt),
		Favorite: favorites.HasFlag(s.Name), Owner: s.Owner, ValueType: s.ValueType, Tags: shape.Tags(s.Tags), Environments: RowEnvironments(s, environments),
	}
}

// RowEnvironments returns a flag in each environment as lists have it.
func RowEnvironments(s flags.FeatureSummary, environments []flags.ProjectEnvironment) []RowEnvironment {
	return httpapi.Each(environments, func(env flags.ProjectEnvironment) RowEnvironment {
		summary, enabled := s.In(env)
		row := RowEnvironmentOf(summary, enabled && !s.Archived, env)
		if summary.Withheld > 0 {
			rollout := 100 - summary.Withheld
			row.Rollout, row.Targeted = &rollout, summary.Targeted
		}
		return row
	})
}
