package flags

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestAttach(t *testing.T) {
	development := Environment{Name: "development", UID: "uid-1"}
	again := Environment{Name: "development", UID: "uid-2"}
	preset := &Strategy{Name: "default"}
	tests := []struct {
		name     string
		attached map[string]Attachment
		env      Environment
		conflict bool
		want     map[string]Attachment
	}{
		{"the first", nil, development, false, map[string]Attachment{"development": {ID: "new", EnvironmentUID: "uid-1"}}},
		{"another", map[string]Attachment{"x": {ID: "x"}}, development, false,
			map[string]Attachment{"x": {ID: "x"}, "development": {ID: "new", EnvironmentUID: "uid-1"}}},
		{"attached already", map[string]Attachment{"development": {ID: "old", EnvironmentUID: "uid-1"}}, development, true,
			map[string]Attachment{"development": {ID: "old", EnvironmentUID: "uid-1"}}},
		// Data of a deleted environment must neither block nor affect a new one of the same name.
		{"an environment created again", map[string]Attachment{"development": {ID: "old", EnvironmentUID: "uid-1", DefaultStrategy: preset}}, again, false,
			map[string]Attachment{"development": {ID: "new", EnvironmentUID: "uid-2"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := &Project{ID: "p", Environments: tt.attached}
			kept := before.Clone()
			p := before.Clone()
			err := p.Attach(tt.env, "new")
			if (err != nil) != tt.conflict || tt.conflict && KindOf(err) != Conflict {
				t.Errorf("error %v, want a conflict: %t", err, tt.conflict)
			}
			if !reflect.DeepEqual(p.Environments, tt.want) {
				t.Errorf("attached %v, want %v", p.Environments, tt.want)
			}
			if !reflect.DeepEqual(before, kept) {
				t.Errorf("the project it was copied from is now %v, want %v", before, kept)
			}
		})
	}
}

func TestAvailableEnvironments(t *testing.T) {
	registry := &Environments{List: []Environment{
		{Name: "z", UID: "uid-z", SortOrder: 1}, {Name: "b", UID: "uid-b", SortOrder: 2}, {Name: "a", UID: "uid-a", SortOrder: 2},
		{Name: "off", UID: "uid-off", SortOrder: -1, Enabled: false}, {Name: "again", UID: "uid-2"}, {Name: "elsewhere", UID: "uid-e"},
	}}
	all := map[string]Attachment{
		"a": {ID: "1", EnvironmentUID: "uid-a"}, "b": {ID: "2", EnvironmentUID: "uid-b"}, "z": {ID: "3", EnvironmentUID: "uid-z"},
		"off": {ID: "4", EnvironmentUID: "uid-off"}, "again": {ID: "5", EnvironmentUID: "uid-1"}, "deleted": {ID: "6", EnvironmentUID: "uid-d"},
	}
	tests := []struct {
		name     string
		attached map[string]Attachment
		want     string
	}{
		{"none", nil, ""},
		{"by sort order, then by name; none that were deleted or created again", all, "off z a b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			available := (&Project{Environments: tt.attached}).AvailableEnvironments(registry)
			if available == nil {
				t.Error("nil, want a list: it is answered as one")
			}
			names := make([]string, len(available))
			for i, env := range available {
				names[i] = env.Name
				if env.Attachment != tt.attached[env.Name] {
					t.Errorf("attachment of %s is %v, want %v", env.Name, env.Attachment, tt.attached[env.Name])
				}
			}
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("available %q, want %q", got, tt.want)
			}
		})
	}
}

// TestDetach detaches an environment and attaches it again: flags keep their configuration and are disabled.
func TestDetach(t *testing.T) {
	registry := &Environments{List: []Environment{{Name: "e", UID: "uid"}}}
	p := &Project{ID: "p"}
	if err := p.Attach(registry.List[0], "first"); err != nil {
		t.Fatal(err)
	}
	p.SetDefaultStrategy(p.AvailableEnvironments(registry)[0], Strategy{Name: "default"})
	env := p.AvailableEnvironments(registry)[0]
	f := &Feature{Name: "f"}
	if err := f.Enable(env, func() string { return "id" }, time.Time{}); err != nil {
		t.Fatal(err)
	}
	before := p.Clone()
	p.Detach(env)
	if left := p.AvailableEnvironments(registry); len(left) != 0 || len(before.AvailableEnvironments(registry)) != 1 {
		t.Errorf("left %v, and in what it was copied from %v; want none and one", left, before.AvailableEnvironments(registry))
	}
	if err := p.Attach(registry.List[0], "second"); err != nil {
		t.Fatal(err)
	}
	again := p.AvailableEnvironments(registry)[0]
	if again.Attachment.DefaultStrategy != nil || f.Enabled(again) || len(f.In(again).Strategies) != 1 {
		t.Errorf("default strategy %v, enabled %t, strategies %v; want none, off, and the one that it had",
			again.Attachment.DefaultStrategy, f.Enabled(again), f.In(again).Strategies)
	}
}

func TestSetDefaultStrategy(t *testing.T) {
	before := &Project{Environments: map[string]Attachment{"e": {ID: "a", EnvironmentUID: "uid"}}}
	p := before.Clone()
	s := p.SetDefaultStrategy(ProjectEnvironment{Environment: Environment{Name: "e"}},
		Strategy{Name: "default", Variants: []Variant{{Name: "v", WeightType: Variable}}})
	a := p.Environments["e"]
	if a.ID != "a" || a.EnvironmentUID != "uid" || a.DefaultStrategy == nil || !reflect.DeepEqual(*a.DefaultStrategy, s) || s.Variants[0].Weight != 1000 {
		t.Errorf("attachment %v with %v, want the strategy on it, its weights distributed", a, a.DefaultStrategy)
	}
	if before.Environments["e"].DefaultStrategy != nil {
		t.Error("the project it was copied from has a default strategy too")
	}
}

func TestMarkUpdated(t *testing.T) {
	at, limit, same := time.Unix(9, 0), int64(1), int64(1)
	before := &Project{Name: "n", Settings: Settings{Mode: ModeOpen, FeatureLimit: &limit}, UpdatedAt: time.Unix(1, 0)}
	for name, tt := range map[string]struct {
		alter   func(*Project)
		revised bool
	}{
		"nothing":           {func(*Project) {}, false},
		"the same limit":    {func(p *Project) { p.FeatureLimit = &same }, false},
		"the members alone": {func(p *Project) { p.Members = map[int64][]int64{1: {4}} }, false},
		"the name":          {func(p *Project) { p.Name = "m" }, true},
		"the description":   {func(p *Project) { p.Description = "d" }, true},
		"the mode":          {func(p *Project) { p.Mode = ModePrivate }, true},
		"the naming":        {func(p *Project) { p.Naming.Pattern = "^x" }, true},
		"no limit":          {func(p *Project) { p.FeatureLimit = nil }, true},
		"links":             {func(p *Project) { p.LinkTemplates = []LinkTemplate{{URL: "u"}} }, true},
	} {
		p := before.Clone()
		tt.alter(p)
		p.MarkUpdated(before, at)
		if got := p.UpdatedAt.Equal(at); got != tt.revised {
			t.Errorf("%s: updated %t, want %t", name, got, tt.revised)
		}
	}
}

func TestHealth(t *testing.T) {
	for _, tt := range []struct{ active, stale, want int }{{0, 0, 100}, {1, 0, 100}, {1, 1, 0}, {3, 1, 67}, {3, 2, 33}, {200, 1, 100}, {1000, 996, 0}} {
		if got := Health(tt.active, tt.stale); got != tt.want {
			t.Errorf("health of %d flags, %d of them stale: %d, want %d", tt.active, tt.stale, got, tt.want)
		}
	}
}

func TestMemberCount(t *testing.T) {
	p := &Project{Members: map[int64][]int64{1: {4, 5}, 2: {5}, 3: {}}}
	if got := p.MemberCount(); got != 2 {
		t.Errorf("%d members, want 2", got)
	}
}

func TestProjectCheckDeletable(t *testing.T) {
	if err := (&Project{ID: DefaultProject}).CheckDeletable(); KindOf(err) != Invalid {
		t.Errorf("default: %v, want a refusal", err)
	}
	if err := (&Project{ID: "p"}).CheckDeletable(); err != nil {
		t.Errorf("another: %v, want none", err)
	}
}

func TestDeriveID(t *testing.T) {
	for name, want := range map[string]string{
		"Shop":                    "shop",
		"  The  new Shop! (2026)": "the-new-shop-2026",
		"a/b\\c":                  "a-b-c",
		"v1.2_x~y":                "v1.2_x~y",
		"Ünïcödé":                 "n-c-d",
		"日本":                      "project",
		"..":                      "project",
		"":                        "project",
		"-":                       "-",
		strings.Repeat("x", 500):  strings.Repeat("x", 90),
	} {
		if got := DeriveID(name); got != want {
			t.Errorf("the id for %q is %q, want %q", name, got, want)
		}
	}
}
