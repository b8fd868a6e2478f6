package e2e

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The types of responses, with every field. An unknown field is a failure.
type (
	featureAnswer struct {
		Name           string     `json:"name"`
		Type           string     `json:"type"`
		Description    *string    `json:"description"`
		Project        string     `json:"project"`
		Stale          bool       `json:"stale"`
		ImpressionData bool       `json:"impressionData"`
		CreatedAt      time.Time  `json:"createdAt"`
		LastSeenAt     *time.Time `json:"lastSeenAt"`
		Archived       bool       `json:"archived"`
		ArchivedAt     *time.Time `json:"archivedAt"`
		WasEnabledIn   []string   `json:"wasEnabledIn"` // in lists of archived flags
		Enabled        bool       `json:"enabled"`
		Favorite       bool       `json:"favorite"`
		Environments   []inAnswer `json:"environments"`
		Variants       []variant  `json:"variants"`
		Strategies     []strategy `json:"strategies"`
		Children       []string   `json:"children"`
		Dependencies   []parent   `json:"dependencies"`
		Lifecycle      phase      `json:"lifecycle"`
		Tags           []tag      `json:"tags"`
	}
	parent struct {
		Feature  string   `json:"feature"`
		Enabled  bool     `json:"enabled"`
		Variants []string `json:"variants"`
	}
	phase struct {
		Stage     string    `json:"stage"`
		EnteredAt time.Time `json:"enteredStageAt"`
	}
	tag struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	}
	// inAnswer is a flag in one environment.
	inAnswer struct {
		rowEnvironment
		FeatureName string     `json:"featureName"`
		Environment string     `json:"environment"`
		Strategies  []strategy `json:"strategies"`
		Variants    []variant  `json:"variants"`
	}
	strategy struct {
		ID          string            `json:"id"`
		Name        string            `json:"name"`
		Title       *string           `json:"title"`
		Disabled    bool              `json:"disabled"`
		FeatureName string            `json:"featureName"`
		SortOrder   float64           `json:"sortOrder"`
		Segments    []int             `json:"segments"`
		Constraints []constraint      `json:"constraints"`
		Variants    []variant         `json:"variants"`
		Parameters  map[string]string `json:"parameters"`
	}
	constraint struct {
		ContextName     string   `json:"contextName"`
		Operator        string   `json:"operator"`
		CaseInsensitive bool     `json:"caseInsensitive"`
		Inverted        bool     `json:"inverted"`
		Values          []string `json:"values"`
		Value           *string  `json:"value"`
	}
	variant struct {
		Name       string     `json:"name"`
		Weight     float64    `json:"weight"`
		WeightType string     `json:"weightType"`
		Stickiness string     `json:"stickiness"`
		Payload    *payload   `json:"payload"`
		Overrides  []override `json:"overrides"`
	}
	payload struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	}
	override struct {
		ContextName string   `json:"contextName"`
		Values      []string `json:"values"`
	}
	// rowEnvironment is what lists say of a flag in one environment.
	rowEnvironment struct {
		Name                 string     `json:"name"`
		DisplayName          string     `json:"displayName"`
		Enabled              bool       `json:"enabled"`
		Type                 string     `json:"type"`
		SortOrder            float64    `json:"sortOrder"`
		VariantCount         int        `json:"variantCount"`
		HasStrategies        bool       `json:"hasStrategies"`
		HasEnabledStrategies bool       `json:"hasEnabledStrategies"`
		LastSeenAt           *time.Time `json:"lastSeenAt"`
	}
	row struct {
		Name           string           `json:"name"`
		Type           string           `json:"type"`
		Description    *string          `json:"description"`
		Stale          bool             `json:"stale"`
		ImpressionData bool             `json:"impressionData"`
		CreatedAt      time.Time        `json:"createdAt"`
		LastSeenAt     *time.Time       `json:"lastSeenAt"`
		Favorite       bool             `json:"favorite"`
		Environments   []rowEnvironment `json:"environments"`
		Tags           []tag            `json:"tags"`
	}
	// listedRow is what the list of a project says of a flag.
	listedRow struct {
		row
		Lifecycle phase `json:"lifecycle"`
	}
	list struct {
		Version  int         `json:"version"`
		Features []listedRow `json:"features"`
	}
	overview struct {
		Version                                    int
		Features                                   []row
		Name, Description, Mode, DefaultStickiness string
		FeatureLimit                               *int
		FeatureNaming                              struct{ Pattern, Example, Description *string }
		LinkTemplates                              []struct{ Title, URLTemplate string }
		CreatedAt, UpdatedAt                       time.Time
		Health, Members                            int
		Stats                                      map[string]float64
		Favorite                                   bool
		Environments                               []struct{ Environment string }
	}
	archive struct {
		Version  int             `json:"version"`
		Features []featureAnswer `json:"features"`
	}
	variantsAnswer struct {
		Version  int       `json:"version"`
		Variants []variant `json:"variants"`
	}
)

// in returns the flag's state in an environment, which must exist.
func (f featureAnswer) in(t *testing.T, environment string) inAnswer {
	t.Helper()
	for _, e := range f.Environments {
		if e.Name == environment {
			return e
		}
	}
	t.Fatalf("flag %s is not in %s: %+v", f.Name, environment, f.Environments)
	return inAnswer{}
}

// equal compares a response, or a part of it, with the expected value.
func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(inAnswer{})); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
