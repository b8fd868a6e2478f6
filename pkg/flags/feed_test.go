package flags

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// servedFlag returns a flag with everything that applications see, and more.
func servedFlag() *Feature {
	text := func(s string) *string { return &s }
	return &Feature{
		Version: 3, Name: "f", Project: "p", ProjectUID: "uid-p", CreatedAt: monday, CreatedBy: "author", LastSeenAt: monday,
		Metadata: Metadata{Type: Release, Description: text("old")},
		Children: []string{"child"}, Lifecycle: []Phase{{Stage: StageInitial}},
		Tags:         []Tag{{Type: "simple", Value: "tag"}},
		Dependencies: []Dependency{{Feature: "parent", Variants: []string{"blue"}}},
		Environments: map[string]FeatureEnvironment{
			"dev": {
				EnvironmentState: EnvironmentState{EnvironmentUID: "uid-dev", EnabledIn: "attached"}, LastSeenAt: monday,
				Strategies: []Strategy{
					{ID: "1", Name: "default", Title: text("one"), SortOrder: 1, Constraints: []Constraint{{ContextName: "userId", Operator: "IN", Values: []string{"7"}}}, Parameters: map[string]string{"a": "b"}},
					{ID: "2", Name: "default", Title: text("two"), SortOrder: 2, Disabled: true},
				},
				Variants: []Variant{{Name: "v", Weight: 1000, Payload: &Payload{Type: "string", Value: "x"}}},
			},
			"empty": {EnvironmentState: EnvironmentState{EnvironmentUID: "uid-empty"}},
		},
	}
}

// inDev returns an alteration of the environment dev.
func inDev(alter func(*FeatureEnvironment)) func(*Feature) {
	return func(f *Feature) {
		fe := f.Environments["dev"]
		fe.Strategies = append([]Strategy(nil), fe.Strategies...)
		alter(&fe)
		f.Environments["dev"] = fe
	}
}

func TestChangesServedOfFlags(t *testing.T) {
	for _, tt := range []struct {
		name  string
		alter func(*Feature)
		want  bool
	}{
		{"nothing", func(*Feature) {}, false},
		{"version", func(f *Feature) { f.Version++ }, false},
		{"children", func(f *Feature) { f.Children = nil }, false},
		{"owner", func(f *Feature) { f.Owner = "Ann" }, false},
		{"links", func(f *Feature) { f.Links = []Link{{ID: "1", URL: "https://example.com"}} }, false},
		{"comments", func(f *Feature) { f.Comments++ }, false},
		{"lifecycle", func(f *Feature) { f.Lifecycle = nil }, false},
		{"last seen", func(f *Feature) { f.LastSeenAt = tuesday }, false},
		{"last seen in an environment", inDev(func(fe *FeatureEnvironment) { fe.LastSeenAt = tuesday }), false},
		{"ID of a strategy", inDev(func(fe *FeatureEnvironment) { fe.Strategies[0].ID = "9" }), false},
		{"title of a strategy", inDev(func(fe *FeatureEnvironment) { fe.Strategies[0].Title = nil }), false},
		{"sort order of a strategy", inDev(func(fe *FeatureEnvironment) { fe.Strategies[0].SortOrder = 1.5 }), false},
		{"a disabled strategy", inDev(func(fe *FeatureEnvironment) { fe.Strategies[1].Name = "other" }), false},
		{"without the disabled strategy", inDev(func(fe *FeatureEnvironment) { fe.Strategies = fe.Strategies[:1] }), false},
		{"empty instead of nil", inDev(func(fe *FeatureEnvironment) { fe.Strategies[0].Segments = []int64{} }), false},
		{"an environment without an entry", func(f *Feature) { delete(f.Environments, "empty") }, false},
		{"an empty entry", func(f *Feature) {
			f.Environments["new"] = FeatureEnvironment{EnvironmentState: EnvironmentState{EnvironmentUID: "uid-new"}}
		}, false},

		{"stale", func(f *Feature) { f.Stale = true }, true},
		{"type", func(f *Feature) { f.Type = Experiment }, true},
		{"description", func(f *Feature) { f.Description = nil }, true},
		{"impression data", func(f *Feature) { f.ImpressionData = true }, true},
		{"project", func(f *Feature) { f.Project, f.ProjectUID = "q", "uid-q" }, true},
		{"tags", func(f *Feature) { f.Tags = nil }, true},
		{"dependencies", func(f *Feature) { f.Dependencies = nil }, true},
		{"variants of a dependency", func(f *Feature) { f.Dependencies = []Dependency{{Feature: "parent"}} }, true},
		{"archived", func(f *Feature) { f.Archived = true }, true},
		{"disabled", inDev(func(fe *FeatureEnvironment) { fe.EnabledIn = "" }), true},
		{"another attachment", inDev(func(fe *FeatureEnvironment) { fe.EnabledIn = "other" }), true},
		{"another environment of the name", inDev(func(fe *FeatureEnvironment) { fe.EnvironmentUID = "other" }), true},
		{"without variants", inDev(func(fe *FeatureEnvironment) { fe.Variants = nil }), true},
		{"payload", inDev(func(fe *FeatureEnvironment) { fe.Variants = []Variant{{Name: "v", Weight: 1000}} }), true},
		{"a strategy less", inDev(func(fe *FeatureEnvironment) { fe.Strategies = fe.Strategies[1:] }), true},
		{"segments", inDev(func(fe *FeatureEnvironment) { fe.Strategies[0].Segments = []int64{1} }), true},
		{"constraints", inDev(func(fe *FeatureEnvironment) { fe.Strategies[0].Constraints = nil }), true},
		{"a parameter", inDev(func(fe *FeatureEnvironment) { fe.Strategies[0].Parameters = map[string]string{"a": "c"} }), true},
		{"another parameter", inDev(func(fe *FeatureEnvironment) { fe.Strategies[0].Parameters = map[string]string{"b": "b"} }), true},
		{"an enabled strategy more", inDev(func(fe *FeatureEnvironment) { fe.Strategies[1].Disabled = false }), true},
		{"order of strategies", inDev(func(fe *FeatureEnvironment) {
			fe.Strategies[1].Disabled = false
			fe.Strategies[0], fe.Strategies[1] = fe.Strategies[1], fe.Strategies[0]
		}), true},
		{"the whole environment", func(f *Feature) { delete(f.Environments, "dev") }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before, after := servedFlag(), servedFlag()
			tt.alter(after)
			for _, w := range []Write{{before, after}, {after, before}} {
				if got := w.ChangesServed(); got != tt.want {
					t.Errorf("it changes what applications see: %t, want %t", got, tt.want)
				}
			}
			if !reflect.DeepEqual(before, servedFlag()) {
				t.Error("the flag was changed")
			}
		})
	}
}

func TestChangesServedOfOthers(t *testing.T) {
	archived := servedFlag()
	archived.Archived = true
	archivedAndTagged := servedFlag()
	archivedAndTagged.Archived, archivedAndTagged.Tags = true, nil
	strategy := &Strategy{Name: "default"}
	project := func(alter func(*Project)) *Project {
		p := &Project{ID: "p", UID: "uid", Name: "P", Environments: map[string]Attachment{"dev": {ID: "a", EnvironmentUID: "u"}}}
		alter(p)
		return p
	}
	segment := func(alter func(*Segment)) *Segment {
		s := &Segment{ID: 1, Name: "s", Constraints: []Constraint{{ContextName: "userId", Operator: "IN", Values: []string{"1"}}}}
		alter(s)
		return s
	}
	environments := func(list ...Environment) *Environments { return &Environments{List: list} }
	dev, prod := Environment{Name: "dev", UID: "1", Type: "test", SortOrder: 1}, Environment{Name: "prod", UID: "2"}
	sorted, renewed := dev, dev
	sorted.SortOrder, sorted.Type, sorted.Enabled, renewed.UID = 7, "other", true, "3"
	for _, tt := range []struct {
		name string
		Write
		want bool
	}{
		{"a new flag", Write{nil, servedFlag()}, true},
		{"a new archived flag", Write{nil, archived}, false},
		{"an archived flag", Write{archived, archivedAndTagged}, false},
		{"tag types", Write{nil, &TagTypes{}}, false},
		{"addons", Write{&Addons{}, nil}, false},
		{"a typed nil", Write{(*Feature)(nil), servedFlag()}, true},

		{"a new project", Write{nil, project(func(*Project) {})}, true},
		{"a deleted project", Write{project(func(*Project) {}), nil}, true},
		{"a project with other texts", Write{project(func(*Project) {}), project(func(p *Project) {
			p.Name, p.Description, p.UpdatedAt, p.Members = "Q", "d", monday, map[int64][]int64{1: {2}}
			p.DefaultStickiness = "userId"
		})}, false},
		{"a default strategy", Write{project(func(*Project) {}), project(func(p *Project) {
			p.Environments["dev"] = Attachment{ID: "a", EnvironmentUID: "u", DefaultStrategy: strategy}
		})}, false},
		{"an environment of a project", Write{project(func(*Project) {}), project(func(p *Project) { p.Environments["prod"] = Attachment{} })}, true},
		{"attached again", Write{project(func(*Project) {}), project(func(p *Project) { p.Environments["dev"] = Attachment{ID: "b", EnvironmentUID: "u"} })}, true},
		{"another project of the ID", Write{project(func(*Project) {}), project(func(p *Project) { p.UID = "other" })}, true},

		{"a new segment", Write{nil, segment(func(*Segment) {})}, true},
		{"a deleted segment", Write{segment(func(*Segment) {}), nil}, true},
		{"description of a segment", Write{segment(func(*Segment) {}), segment(func(s *Segment) { s.Description, s.CreatedAt = new(string), time.Now() })}, false},
		{"name of a segment", Write{segment(func(*Segment) {}), segment(func(s *Segment) { s.Name = "t" })}, true},
		{"constraints of a segment", Write{segment(func(*Segment) {}), segment(func(s *Segment) { s.Constraints = nil })}, true},
		{"project of a segment", Write{segment(func(*Segment) {}), segment(func(s *Segment) { s.Project, s.ProjectUID = "p", "uid" })}, true},

		{"a new environment", Write{environments(dev), environments(dev, prod)}, true},
		{"an environment created again", Write{environments(dev), environments(renewed)}, true},
		{"order and type of environments", Write{environments(dev, prod), environments(prod, sorted)}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.ChangesServed(); got != tt.want {
				t.Errorf("it changes what applications see: %t, want %t", got, tt.want)
			}
		})
	}
}

// TestServedDescription has descriptions of which applications only get the beginning.
func TestServedDescription(t *testing.T) {
	start := strings.Repeat("é", MaxServedDescription-1)
	described := func(text string) *Feature {
		f := servedFlag()
		f.Description = &text
		return f
	}
	for text, want := range map[string]string{"": "", "short": "short", start + "é": start + "é", start + "éa": start + "é", start + "\U0001F600b": start + "\U0001F600"} {
		f := described(text)
		if got := *f.Served().(*Feature).Description; got != want || *f.Description != text {
			t.Errorf("%q is served as %q and became %q, want %q", text, got, *f.Description, want)
		}
	}
	if (Write{described(start + "éa"), described(start + "éb")}).ChangesServed() {
		t.Error("applications see a change of the end of a long description")
	}
	if !(Write{described(start + "éa"), described(start + "ea")}).ChangesServed() {
		t.Error("applications do not see a change of the beginning of a long description")
	}
}

func TestServed(t *testing.T) {
	f := servedFlag()
	served := f.Served().(*Feature)
	if VersionOf(served) != 3 || len(served.Environments) != 1 || len(served.Environments["dev"].Strategies) != 1 {
		t.Errorf("served %+v, want version 3 with one environment and one strategy", served)
	}
	f.Archived = true
	if got := f.Served(); got != nil {
		t.Errorf("an archived flag is served: %+v", got)
	}
	if p := (&Project{Version: 4, ID: "p", UID: "u"}).Served(); VersionOf(p) != 4 {
		t.Errorf("the project is at version %d, want 4", VersionOf(p))
	}
	if s := (&Segment{Version: 5, ID: 1}).Served(); VersionOf(s) != 5 {
		t.Errorf("the segment is at version %d, want 5", VersionOf(s))
	}
	if e := (&Environments{Version: 6}).Served(); VersionOf(e) != 6 {
		t.Errorf("the registry is at version %d, want 6", VersionOf(e))
	}
}

func TestFeedAfter(t *testing.T) {
	feed := &Feed{Number: 9, Entries: []FeedEntry{{Number: 7}, {Number: 8}, {Number: 9}}}
	reset := &Feed{Number: 9}
	for _, tt := range []struct {
		name  string
		feed  *Feed
		after int64
		first int64 // of the entries; 0 for none
		all   bool
	}{
		{"long ago", feed, 0, 7, false},
		{"one is missing", feed, 5, 7, false},
		{"none is missing", feed, 6, 7, true},
		{"in the middle", feed, 7, 8, true},
		{"the last one", feed, 8, 9, true},
		{"up to date", feed, 9, 0, true},
		{"ahead of it, as after a restore", feed, 12, 0, true},
		{"no entries, behind", reset, 8, 0, false},
		{"no entries, up to date", reset, 9, 0, true},
		{"a new feed", &Feed{}, 0, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			entries, all := tt.feed.After(tt.after)
			var first int64
			if len(entries) > 0 {
				first = entries[0].Number
			}
			if all != tt.all || first != tt.first || first > 0 && entries[len(entries)-1].Number != 9 {
				t.Errorf("got %v, %t; want entries from %d, %t", entries, all, tt.first, tt.all)
			}
		})
	}
}
