package e2e

import (
	"maps"
	"regexp"
	"testing"
	"time"
)

// environments lists the environments of a new project, as in responses.
var environments = []rowEnvironment{
	{Name: "development", DisplayName: "development", Type: "development", SortOrder: 2},
	{Name: "production", DisplayName: "production", Type: "production", SortOrder: 3},
}

// A loaded flag is stored in the server, with the expected response.
type loaded struct {
	spec          specFlag
	project, name string
	in            map[string]*setup // by environment
	parents       []parent
	children      []string // by name
	archived      bool
	revived       time.Time // zero while it never was
}

// A setup is the configuration of a flag in one environment.
type setup struct {
	enabled    bool
	strategies []strategy
	variants   []variant
}

func newLoaded(suite string, spec specFlag) *loaded {
	f := &loaded{spec: spec, project: suite, name: suite + "." + spec.Name, in: map[string]*setup{}, parents: []parent{}, children: []string{}}
	for _, env := range environments {
		f.in[env.Name] = &setup{strategies: []strategy{}, variants: []variant{}}
	}
	return f
}

func (f *loaded) list() string { return "/api/admin/projects/" + f.project + "/features" }

func (f *loaded) path() string { return f.list() + "/" + f.name }

func (f *loaded) pathIn(environment string) string { return f.path() + "/environments/" + environment }

// cloneAs returns the expected clone: disabled, with the new name as group of the strategies that had the old name. The
// ids come from the response (adopt).
func (f *loaded) cloneAs(name string) *loaded {
	c := &loaded{spec: f.spec, project: f.project, name: name, in: map[string]*setup{}, parents: f.parents, children: []string{}}
	for env, s := range f.in {
		n := &setup{strategies: []strategy{}, variants: s.variants}
		for _, old := range s.strategies {
			old.ID, old.FeatureName, old.Parameters = "", name, maps.Clone(old.Parameters)
			if old.Parameters["groupId"] == f.name {
				old.Parameters["groupId"] = name
			}
			n.strategies = append(n.strategies, old)
		}
		c.in[env] = n
	}
	return c
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// adopt copies the id of a strategy from the response. No other strategy may have it.
func adopt(t *testing.T, want *strategy, got strategy, ids map[string]bool) {
	t.Helper()
	if !uuid.MatchString(got.ID) || ids[got.ID] {
		t.Errorf("a strategy of %s has the id %q, want a new UUID", got.FeatureName, got.ID)
	}
	ids[got.ID] = true
	want.ID = got.ID
}

// enabled reports whether the flag is enabled in any environment.
func (f *loaded) enabled() bool {
	for _, s := range f.in {
		if s.enabled {
			return true
		}
	}
	return false
}

// rows returns the flag's environments as in lists.
func (f *loaded) rows() []rowEnvironment {
	rows := make([]rowEnvironment, len(environments))
	for i, env := range environments {
		s := f.in[env.Name]
		env.Enabled, env.VariantCount = s.enabled, len(s.variants)
		env.HasStrategies, env.HasEnabledStrategies = len(s.strategies) > 0, len(s.strategies) > 0
		rows[i] = env
	}
	return rows
}

// want returns the expected flag, without the time of its creation.
func (f *loaded) want(created time.Time) featureAnswer {
	description := or(f.spec.Description, "")
	w := featureAnswer{
		Name: f.name, Type: or(f.spec.Type, "release"), Description: &description, Project: f.project,
		ImpressionData: or(f.spec.ImpressionData, false), CreatedAt: created, Enabled: f.enabled(),
		Variants:   f.in["development"].variants, // those of all environments by name, and both have the same
		Strategies: []strategy{}, Children: f.children, Dependencies: f.parents, Tags: []tag{},
		Lifecycle: phase{"initial", created},
	}
	if !f.revived.IsZero() {
		w.Lifecycle.EnteredAt = f.revived
	}
	for _, row := range f.rows() {
		s := f.in[row.Name]
		w.Environments = append(w.Environments, inAnswer{row, f.name, row.Name, s.strategies, s.variants})
	}
	return w
}

// check reads the flag and compares all of it.
func (f *loaded) check(t *testing.T, g *gateway) {
	t.Helper()
	var got featureAnswer
	g.do(t, 200, "GET", f.path(), nil, &got)
	if age := time.Since(got.CreatedAt); age < 0 || age > time.Hour {
		t.Errorf("%s was created at %s", f.name, got.CreatedAt)
	}
	equal(t, f.name, got, f.want(got.CreatedAt))
}
