package flags

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	monday  = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	tuesday = monday.AddDate(0, 0, 1)
)

// counter returns a generator of the IDs new-1, new-2 and so on.
func counter() func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("new-%d", n) }
}

// inEnvironment returns an environment of a project with these UIDs.
func inEnvironment(name, uid, attachment string) ProjectEnvironment {
	return ProjectEnvironment{Environment: Environment{Name: name, UID: uid}, Attachment: Attachment{ID: attachment, EnvironmentUID: uid}}
}

func TestNewFeature(t *testing.T) {
	p := &Project{ID: "p", UID: "uid-p"}
	got := NewFeature(p, "f", Metadata{Type: Release, Stale: true}, "author", monday)
	want := &Feature{
		Name: "f", Project: "p", ProjectUID: "uid-p", Metadata: Metadata{Type: Release, Stale: true}, CreatedAt: monday, CreatedBy: "author",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("created %+v, want %+v", got, want)
	}
	if VersionOf(got) != 0 || got.Key() != FeatureKey("f") {
		t.Errorf("version %d at %v, want 0 at %v", VersionOf(got), got.Key(), FeatureKey("f"))
	}
	env := inEnvironment("e", "uid-e", "a")
	if fe := got.In(env); got.Enabled(env) || len(fe.Strategies) > 0 || len(fe.Variants) > 0 || fe.EnvironmentUID != "uid-e" {
		t.Errorf("in an environment: %+v, want it disabled and empty", fe)
	}
}

func TestEnable(t *testing.T) {
	env := inEnvironment("e", "uid-e", "attached")
	byDefault := env
	byDefault.Attachment.DefaultStrategy = &Strategy{
		Name: "flexibleRollout", Parameters: map[string]string{"rollout": "20"}, Variants: []Variant{variant("v", Variable, 1)},
	}
	standing := EnvironmentState{EnvironmentUID: "uid-e"}
	tests := []struct {
		name       string
		env        ProjectEnvironment
		before     FeatureEnvironment
		kind       Kind   // of the error, with message in it
		message    string // "" for no error
		strategies string // ids after
	}{
		{"with a strategy", env, FeatureEnvironment{EnvironmentState: standing, Strategies: []Strategy{{ID: "a", Name: "default"}}}, 0, "", "a"},
		{"with only a disabled one", env, FeatureEnvironment{EnvironmentState: standing, Strategies: []Strategy{{ID: "a", Name: "default", Disabled: true}}}, 0, "", "a"},
		{"enabled already", env, FeatureEnvironment{EnvironmentState: EnvironmentState{"uid-e", "attached"}, Strategies: []Strategy{{ID: "a"}}}, 0, "", "a"},
		{"without", env, FeatureEnvironment{EnvironmentState: standing}, Conflict, `flag "f" cannot be enabled in environment "e"`, ""},
		{"without, with a default one", byDefault, FeatureEnvironment{EnvironmentState: standing}, 0, "", "new-1"},
		{"with one, and a default one", byDefault, FeatureEnvironment{EnvironmentState: standing, Strategies: []Strategy{{ID: "a"}}}, 0, "", "a"},
		{"with one of an environment since created again", env, FeatureEnvironment{EnvironmentState: EnvironmentState{EnvironmentUID: "earlier"}, Strategies: []Strategy{{ID: "a"}}}, Conflict, "add one first", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := &Feature{Name: "f", Environments: map[string]FeatureEnvironment{"e": tt.before}}
			f := before.Clone()
			err := f.Enable(tt.env, counter(), time.Time{})
			if (err != nil) != (tt.message != "") || err != nil && (KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.message)) {
				t.Fatalf("error %v, want kind %d with %q in it", err, tt.kind, tt.message)
			}
			if want := err == nil; f.Enabled(tt.env) != want {
				t.Errorf("enabled %t, want %t", f.Enabled(tt.env), want)
			}
			var ids []string
			for _, s := range f.In(tt.env).Strategies {
				ids = append(ids, s.ID)
			}
			if got := strings.Join(ids, " "); got != tt.strategies {
				t.Errorf("strategies %q, want %q", got, tt.strategies)
			}
			if !reflect.DeepEqual(before.Environments["e"], tt.before) {
				t.Errorf("the flag it was copied from has now %+v, want %+v", before.Environments["e"], tt.before)
			}
		})
	}
}

// TestEnableAddsDefaultStrategy checks how a default strategy is added to a flag.
func TestEnableAddsDefaultStrategy(t *testing.T) {
	env := inEnvironment("e", "uid-e", "attached")
	env.Attachment.DefaultStrategy = &Strategy{
		Name: "flexibleRollout", Parameters: map[string]string{"rollout": "20"},
		Variants: []Variant{variant("x", Variable, 1), variant("y", Variable, 1)},
	}
	f := &Feature{Name: "f"}
	if err := f.Enable(env, counter(), time.Time{}); err != nil {
		t.Fatal(err)
	}
	got := f.In(env).Strategies
	want := []Strategy{{
		ID: "new-1", Name: "flexibleRollout",
		Parameters: map[string]string{"rollout": "20", "stickiness": "default", "groupId": "f"},
		Variants:   []Variant{variant("x", Variable, 500), variant("y", Variable, 500)},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("strategies %+v, want %+v", got, want)
	}
	if original := env.Attachment.DefaultStrategy; original.ID != "" || original.Variants[0].Weight != 1 || len(original.Parameters) != 1 {
		t.Errorf("the project's own is now %+v, want it unchanged", original)
	}
}

func TestDisable(t *testing.T) {
	env := development()
	f := withStrategies(place("a", 0))
	f.Disable(env)
	if f.Enabled(env) || len(f.In(env).Strategies) != 1 {
		t.Errorf("after Disable: %+v, want it off, its strategy kept", f.In(env))
	}
	was := f.Clone()
	f.Disable(env)
	if !reflect.DeepEqual(f, was) {
		t.Errorf("disabled twice: %+v, want %+v", f, was)
	}
	empty := &Feature{Name: "f"}
	empty.Disable(env)
	if !reflect.DeepEqual(empty, &Feature{Name: "f"}) {
		t.Errorf("disabled where nothing is: %+v, want no entry, which would look like a change", empty)
	}
}

// TestRecreatedEnvironmentStartsEmpty checks what a flag keeps when its environment is deleted and created
// again, or detached and attached again.
func TestRecreatedEnvironmentStartsEmpty(t *testing.T) {
	f := &Feature{Name: "f", Environments: map[string]FeatureEnvironment{"e": {
		EnvironmentState: EnvironmentState{EnvironmentUID: "uid-1", EnabledIn: "attached-1"}, LastSeenAt: monday,
		Strategies: []Strategy{{ID: "a"}}, Variants: []Variant{variant("v", Variable, 1000)},
	}}}
	tests := []struct {
		name       string
		env        ProjectEnvironment
		enabled    bool
		configured bool
	}{
		{"as it was", inEnvironment("e", "uid-1", "attached-1"), true, true},
		{"taken out of the project and added again", inEnvironment("e", "uid-1", "attached-2"), false, true},
		{"deleted and created again", inEnvironment("e", "uid-2", "attached-2"), false, false},
		{"deleted and created again, with the same attachment ID", inEnvironment("e", "uid-2", "attached-1"), false, false},
		{"another", inEnvironment("other", "uid-3", "attached-3"), false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := f.Enabled(tt.env); got != tt.enabled {
				t.Errorf("enabled %t, want %t", got, tt.enabled)
			}
			fe := f.In(tt.env)
			if got := len(fe.Strategies) > 0 || len(fe.Variants) > 0 || !fe.LastSeenAt.IsZero(); got != tt.configured {
				t.Errorf("configured %t (%+v), want %t", got, fe, tt.configured)
			}
			// The list row must agree with the flag.
			summary, enabled := f.Summary().In(tt.env)
			if enabled != tt.enabled || (summary.Strategies > 0) != tt.configured {
				t.Errorf("in the summary: enabled %t, %+v; want %t and %t", enabled, summary, tt.enabled, tt.configured)
			}
			// New configuration must not bring back the old one.
			c := f.Clone()
			if err := c.AddStrategy(tt.env, place("b", 9), DefaultLimits()); err != nil {
				t.Fatal(err)
			}
			want := 1
			if tt.configured {
				want = 2
			}
			if got := c.In(tt.env); len(got.Strategies) != want || c.Enabled(tt.env) != tt.enabled {
				t.Errorf("with one more strategy: %+v, want %d strategies, enabled %t", got, want, tt.enabled)
			}
		})
	}
}

func TestArchiveAndRevive(t *testing.T) {
	env := development()
	f := withStrategies(place("a", 0))
	f.SetVariants(env, []Variant{variant("v", Variable, 0)})
	if err := f.Archive(monday); err != nil {
		t.Fatal(err)
	}
	if err := f.Archive(tuesday); err != nil {
		t.Fatal(err)
	}
	if !f.Archived || !f.ArchivedAt.Equal(monday) {
		t.Errorf("archived %t at %v, want at %v, the first time", f.Archived, f.ArchivedAt, monday)
	}
	if !f.Enabled(env) {
		t.Error("disabled by its archiving, want its state kept until it is revived")
	}

	revived := f.Clone()
	revived.Revive(tuesday)
	if revived.Archived || !revived.ArchivedAt.IsZero() || revived.Enabled(env) {
		t.Errorf("revived: archived %t at %v, enabled %t; want active and disabled", revived.Archived, revived.ArchivedAt, revived.Enabled(env))
	}
	if fe := revived.In(env); len(fe.Strategies) != 1 || len(fe.Variants) != 1 {
		t.Errorf("revived with %+v, want its strategy and variant", fe)
	}
	if !f.Enabled(env) {
		t.Error("reviving changed the flag that was copied")
	}

	active := withStrategies(place("a", 0))
	active.Revive(tuesday)
	if !active.Enabled(env) {
		t.Error("reviving an active flag disabled it, want no change")
	}
}

func TestCloneAs(t *testing.T) {
	env, other := development(), inEnvironment("production", "uid-p", "attached-p")
	description := "text"
	source := withStrategies(
		Strategy{ID: "a", Name: "flexibleRollout", Parameters: map[string]string{"groupId": "f", "rollout": "50"}},
		Strategy{ID: "b", Name: "flexibleRollout", SortOrder: 1, Parameters: map[string]string{"groupId": "else"}},
	)
	source.Version, source.Metadata = 7, Metadata{Type: Experiment, Description: &description, Stale: true, ImpressionData: true}
	source.Project, source.ProjectUID, source.CreatedAt, source.CreatedBy, source.LastSeenAt = "p", "uid-p", monday, "author", monday
	source.SetVariants(env, []Variant{variant("v", Variable, 0)})
	if err := source.AddStrategy(other, Strategy{ID: "c", Name: "default"}, DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		replace bool
		groups  []string
	}{
		"groups replaced": {true, []string{"g", "else"}},
		"groups kept":     {false, []string{"f", "else"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := source.CloneAs("g", tt.replace, &Environments{List: []Environment{env.Environment, other.Environment}}, "another", tuesday, counter())
			if c.Name != "g" || c.Version != 0 || !c.CreatedAt.Equal(tuesday) || c.CreatedBy != "another" || !c.LastSeenAt.IsZero() {
				t.Errorf("clone %+v, want a new flag", c)
			}
			if !reflect.DeepEqual(c.Metadata, source.Metadata) || c.Project != "p" || c.ProjectUID != "uid-p" {
				t.Errorf("metadata %+v in %s, want %+v in p", c.Metadata, c.Project, source.Metadata)
			}
			if c.Enabled(env) || c.Enabled(other) {
				t.Error("enabled, want it disabled everywhere")
			}
			if got := c.In(env).Variants; !reflect.DeepEqual(got, source.In(env).Variants) {
				t.Errorf("variants %v, want %v", got, source.In(env).Variants)
			}
			var groups, ids []string
			for _, s := range c.In(env).Strategies {
				groups = append(groups, s.Parameters["groupId"])
			}
			for _, s := range append(c.In(env).Strategies, c.In(other).Strategies...) {
				ids = append(ids, s.ID)
			}
			slices.Sort(ids)
			if !slices.Equal(groups, tt.groups) || !slices.Equal(ids, []string{"new-1", "new-2", "new-3"}) {
				t.Errorf("groups %q and ids %q, want %q and three new ones", groups, ids, tt.groups)
			}
			if s := source.In(env).Strategies[0]; s.ID != "a" || s.Parameters["groupId"] != "f" || !source.Enabled(env) {
				t.Errorf("the source has now %+v, want it unchanged", s)
			}
		})
	}
}

func TestAllVariants(t *testing.T) {
	first, second := inEnvironment("z", "uid-z", "az"), inEnvironment("a", "uid-a", "aa")
	f := &Feature{Name: "f"}
	f.SetVariants(first, []Variant{variant("y", Variable, 0), variant("x", Fix, 100)})
	f.SetVariants(second, []Variant{variant("x", Variable, 0), variant("w", Variable, 0)})
	tests := []struct {
		name string
		envs []ProjectEnvironment
		want string
	}{
		{"none", nil, ""},
		{"one", []ProjectEnvironment{second}, "x=500 w=500"},
		{"both: the first one's of a name", []ProjectEnvironment{first, second}, "y=900 x=100 w=500"},
		{"the other way around", []ProjectEnvironment{second, first}, "x=500 w=500 y=900"},
		{"an environment created again", []ProjectEnvironment{inEnvironment("z", "uid-new", "az")}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all := f.AllVariants(tt.envs)
			if all == nil {
				t.Error("nil, want a list: it is answered as one")
			}
			var got []string
			for _, v := range all {
				got = append(got, fmt.Sprintf("%s=%v", v.Name, v.Weight))
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("variants %q, want %q", got, tt.want)
			}
		})
	}
}

func TestMove(t *testing.T) {
	env := func(name string) ProjectEnvironment { return inEnvironment(name, "uid-"+name, "here-"+name) }
	from := []ProjectEnvironment{env("development"), env("production")}
	to := func(names ...string) *Project {
		p := &Project{ID: "shop", UID: "uid-shop", Environments: map[string]Attachment{}}
		for _, name := range names {
			p.Environments[name] = Attachment{ID: "there-" + name, EnvironmentUID: "uid-" + name}
		}
		return p
	}
	registry := &Environments{List: []Environment{env("development").Environment, env("production").Environment}}
	again := to("development", "production")
	again.Environments["production"] = Attachment{ID: "there-production", EnvironmentUID: "uid-of-a-later-one"}
	tests := []struct {
		name    string
		on      string // where the flag is on
		alter   func(f *Feature)
		to      *Project
		message string // "" for no error
		where   string // it is on afterwards: the attachments
	}{
		{"on in one", "development", nil, to("development", "production"), "", "there-development"},
		{"on in both", "development production", nil, to("production", "development", "more"), "", "there-development there-production"},
		{"off everywhere, to a project without environments", "", nil, to(), "", ""},
		{"off where the other has none", "development", nil, to("development"), "", "there-development"},
		{"on where the other has none", "development production", nil, to("production"), `"development"`, ""},
		{"on in both where the other has none", "development production", nil, to(), `"development", "production"`, ""},
		{"on in an environment of which the other has a later one", "production", nil, again, `"production"`, ""},
		{"on under an earlier attachment", "", func(f *Feature) {
			f.Environments["production"] = FeatureEnvironment{EnvironmentState: EnvironmentState{"uid-production", "earlier"}}
		}, to(), "", ""},
		{"using a segment of its project", "development", func(f *Feature) {
			f.setEnvironment(env("development"), FeatureEnvironment{EnvironmentState: EnvironmentState{"uid-development", "here-development"}, Strategies: []Strategy{{Segments: []int64{1, 2}}}})
		}, to("development"), `segment 2 ("ours"), which belongs to project "default"`, ""},
		{"using one of its project in a deleted environment", "", func(f *Feature) {
			f.setEnvironment(env("staging"), FeatureEnvironment{EnvironmentState: EnvironmentState{EnvironmentUID: "uid-staging"}, Strategies: []Strategy{{Segments: []int64{2}}}})
		}, to("development"), "", ""},
		{"using one of the other, and one of all", "", func(f *Feature) {
			f.setEnvironment(env("development"), FeatureEnvironment{EnvironmentState: EnvironmentState{EnvironmentUID: "uid-development"}, Strategies: []Strategy{{Segments: []int64{1, 3}}}})
		}, to("development"), "", ""},
		{"a child", "", func(f *Feature) { f.Dependencies = []Dependency{{Feature: "parent"}} }, to(), "it has dependencies", ""},
		{"a parent", "", func(f *Feature) { f.Children = []string{"child"} }, to(), "it has dependencies", ""},
	}
	segments := map[int64]*Segment{
		1: {ID: 1, Name: "everybody's"}, 2: {ID: 2, Name: "ours", Project: "default", ProjectUID: "uid-default"}, 3: {ID: 3, Name: "theirs", Project: "shop", ProjectUID: "uid-shop"},
	}
	segment := func(id int64) *Segment { return segments[id] }
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &Feature{Name: "f", Project: "default", ProjectUID: "uid-default", Environments: map[string]FeatureEnvironment{}}
			for _, name := range strings.Fields(tt.on) {
				f.setEnvironment(env(name), FeatureEnvironment{EnvironmentState: EnvironmentState{"uid-" + name, "here-" + name}, Strategies: []Strategy{{ID: "s"}}})
			}
			if tt.alter != nil {
				tt.alter(f)
			}
			before := f.Clone()
			err := f.Move(from, tt.to, registry, segment)
			if tt.message != "" {
				if KindOf(err) != Conflict || !strings.Contains(fmt.Sprint(err), tt.message) || !reflect.DeepEqual(f, before) {
					t.Errorf("error %v and %+v, want a Conflict with %q, and no change", err, f, tt.message)
				}
				return
			}
			var where []string
			for _, fe := range f.Environments {
				if fe.EnabledIn != "" {
					where = append(where, fe.EnabledIn)
				}
			}
			slices.Sort(where)
			if err != nil || f.Project != "shop" || f.ProjectUID != "uid-shop" || strings.Join(where, " ") != tt.where {
				t.Errorf("error %v, in %s, on in %q, want it in shop and on in %q", err, f.Project, where, tt.where)
			}
		})
	}
	f := &Feature{Name: "f", ProjectUID: "uid-shop", Children: []string{"child"}, Environments: map[string]FeatureEnvironment{"production": {EnvironmentState: EnvironmentState{"uid-production", "a"}}}}
	if before := f.Clone(); f.Move(from, to(), registry, segment) != nil || !reflect.DeepEqual(f, before) {
		t.Errorf("to where it is: %+v, want no change", f)
	}
}
