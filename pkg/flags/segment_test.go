package flags

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func in(field string, values ...string) Constraint {
	return Constraint{ContextName: field, Operator: "IN", Values: values}
}

func many(n int) []string {
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprint(i)
	}
	return values
}

func TestSegmentCheck(t *testing.T) {
	for _, tt := range []struct {
		name    string
		segment Segment
		want    []string
	}{
		{"plain", Segment{Name: "Beta users", Constraints: []Constraint{in("userId", "1")}}, []string{}},
		{"without constraints", Segment{Name: "all"}, []string{}},
		{"without a name", Segment{Name: "  "}, []string{"/name"}},
		{"a long name", Segment{Name: strings.Repeat("ø", 255)}, []string{}},
		{"a longer one", Segment{Name: strings.Repeat("ø", 256)}, []string{"/name"}},
		{"a bad constraint", Segment{Name: "s", Constraints: []Constraint{in("userId", "1"), {ContextName: "a", Operator: "IS"}}}, []string{"/constraints/1/operator"}},
		{"as many values as may be, in one", Segment{Name: "s", Constraints: []Constraint{in("userId", many(1000)...)}}, []string{}},
		{"too many in one", Segment{Name: "s", Constraints: []Constraint{in("userId", many(1001)...)}}, []string{"/constraints/0/values", "/constraints"}},
		{"too many together", Segment{Name: "s", Constraints: []Constraint{in("userId", many(500)...), in("country", many(501)...)}}, []string{"/constraints"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var p Problems
			tt.segment.Check(DefaultLimits(), &p)
			if diff := cmp.Diff(tt.want, paths(p)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStrategyCheckSegments(t *testing.T) {
	shop := &Project{ID: "shop", UID: "p1"}
	there := map[int64]*Segment{
		1: {ID: 1, Name: "all"}, 2: {ID: 2, Name: "ours", Project: "shop", ProjectUID: "p1"},
		3: {ID: 3, Name: "theirs", Project: "other", ProjectUID: "p2"}, 4: {ID: 4, Name: "of an earlier shop", Project: "shop", ProjectUID: "p0"},
	}
	for _, tt := range []struct {
		name     string
		had, has []int64
		want     string // the first fault
		paths    []string
	}{
		{"none", nil, nil, "", nil},
		{"all good", nil, []int64{1, 2}, "", nil},
		{"unknown", nil, []int64{1, 9}, "/segments/1: there is no segment 9", []string{"/segments/1"}},
		{"of another project", nil, []int64{3}, `/segments/0: segment 3 ("theirs") belongs to project "other" and cannot be used in project "shop"`, []string{"/segments/0"}},
		{"of an earlier project of that id", nil, []int64{4}, `/segments/0: segment 4 ("of an earlier shop") belongs to project "shop" and cannot be used in project "shop"`, []string{"/segments/0"}},
		{"what it had needs no check", []int64{3, 9}, []int64{9, 3, 1}, "", nil},
		{"twice", nil, []int64{1, 2, 1}, "/segments/2: segment 1 is listed twice", []string{"/segments/2"}},
		{"too many", nil, []int64{1, 2, 3, 4, 5, 6}, "/segments: must have at most 5 segments, but has 6", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := Strategy{Name: "default", Segments: tt.has}
			var p Problems
			s.CheckWithoutRegistry(DefaultLimits(), &p)
			if len(p) == 0 {
				s.CheckSegments("/segments", tt.had, shop, func(id int64) *Segment { return there[id] }, &p)
			}
			got := ""
			if err := p.Err(); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// usedBy returns a registry of one environment, and these uses: segment 7 and the field "country" in flag "a" of
// "shop"; the segment in the archived flag "old", and in flag "dead" in a deleted environment; the field in "b"
// of "other".
func usedBy() ([]FeatureUse, *Environments) {
	in := func(uid string, segments []int64, fields ...string) []StrategyUse {
		return []StrategyUse{{ID: "s", Name: "default", Environment: "development", EnvironmentUID: uid, Segments: segments, ContextFields: fields}}
	}
	return []FeatureUse{
		{Feature: "a", Project: "shop", ProjectUID: "p1", Strategies: in("e1", []int64{7}, "country")},
		{Feature: "b", Project: "other", ProjectUID: "p2", Strategies: in("e1", nil, "country", "userId")},
		{Feature: "dead", Project: "shop", ProjectUID: "p1", Strategies: in("e0", []int64{7})},
		{Feature: "old", Project: "shop", ProjectUID: "p1", Archived: true, Strategies: in("e1", []int64{7}, "tier")},
	}, &Environments{List: []Environment{{Name: "development", UID: "e1"}}}
}

func TestFindUses(t *testing.T) {
	uses, registry := usedBy()
	for _, tt := range []struct {
		name  string
		using func(StrategyUse) bool
		want  string
	}{
		{"a segment", func(s StrategyUse) bool { return s.UsesSegment(7) }, "a"},
		{"another", func(s StrategyUse) bool { return s.UsesSegment(8) }, ""},
		{"a field", func(s StrategyUse) bool { return s.UsesContextField("country") }, "a b"},
		{"a field of an archived flag", func(s StrategyUse) bool { return s.UsesContextField("tier") }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list := FindStrategyUses(uses, registry, tt.using)
			var names []string
			for _, s := range list {
				names = append(names, s.Feature)
			}
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("used by %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSegmentCheckDeletable(t *testing.T) {
	uses, registry := usedBy()
	registry.List = append(registry.List, Environment{Name: "staging", UID: "e2"})
	use := func(feature, project string, archived bool, strategies ...StrategyUse) {
		uses = append(uses, FeatureUse{Feature: feature, Project: "shop", ProjectUID: project, Archived: archived, Strategies: strategies})
	}
	in := func(name, uid string, segment int64) StrategyUse {
		return StrategyUse{ID: "s-" + name, Name: "default", Environment: name, EnvironmentUID: uid, Segments: []int64{segment}}
	}
	use("resting", "p1", false, in("staging", "e2", 10), in("staging", "e2", 10))
	use("both", "p1", false, in("development", "e1", 11), in("staging", "e2", 11))
	use("archived", "p1", true, in("staging", "e2", 12))
	use("of-a-deleted-project", "p0", true, in("development", "e1", 13))
	use("created-again", "p1", false, in("staging", "e1", 14))
	project := &Project{ID: "shop", UID: "p1", Environments: map[string]Attachment{
		"development": {ID: "x", EnvironmentUID: "e1", DefaultStrategy: &Strategy{Name: "default", Segments: []int64{8}}},
		"gone":        {ID: "y", EnvironmentUID: "e9", DefaultStrategy: &Strategy{Name: "default", Segments: []int64{9}}},
	}}
	for _, tt := range []struct {
		id   int64
		want string
		left string // flag of the unreachable strategy that must be removed first
	}{
		{7, `segment 7 ("s") is in use by flag "a", archived flag "old"`, "dead"},
		{8, `segment 8 ("s") is in use by default strategy of project "shop" in environment "development"`, ""},
		{9, "", ""}, // only in a deleted environment
		{10, `segment 10 ("s") is in use by flag "resting" in environment "staging", which project "shop" does not have at present (add it again to see the strategy)`, ""},
		{11, `segment 11 ("s") is in use by flag "both", flag "both" in environment "staging", which project "shop" does not have at present (add it again to see the strategy)`, ""},
		{12, `segment 12 ("s") is in use by archived flag "archived"`, ""},
		{13, "", "of-a-deleted-project"},
		{14, "", "created-again"},
	} {
		err := (&Segment{ID: tt.id, Name: "s"}).CheckDeletable(uses, []*Project{project}, registry)
		got := ""
		if err != nil {
			got = err.Error()
			if KindOf(err) != Conflict {
				t.Errorf("segment %d: kind %d, want a conflict", tt.id, KindOf(err))
			}
		}
		if got != tt.want {
			t.Errorf("segment %d: got %q, want %q", tt.id, got, tt.want)
		}
		left, found := (&Segment{ID: tt.id}).FindOrphan(uses, []*Project{project}, registry)
		if left.Feature != tt.left || found != (tt.left != "") {
			t.Errorf("segment %d: the leftover is %q, want %q", tt.id, left.Feature, tt.left)
		}
	}
}

func TestSegmentCheckProjectChange(t *testing.T) {
	uses, registry := usedBy()
	uses = append(uses,
		FeatureUse{Feature: "gone", Project: "third", Strategies: []StrategyUse{{Environment: "staging", EnvironmentUID: "e9", Segments: []int64{7}}}},
		FeatureUse{Feature: "archived", Project: "shop", ProjectUID: "p0", Archived: true, Strategies: []StrategyUse{{Environment: "development", EnvironmentUID: "e1", Segments: []int64{7}}}},
	)
	using := func(id int64) *Strategy { return &Strategy{Name: "default", Segments: []int64{id}} }
	shop := &Project{ID: "shop", UID: "p1", Environments: map[string]Attachment{
		"development": {EnvironmentUID: "e1", DefaultStrategy: using(8)}, "staging": {EnvironmentUID: "e9", DefaultStrategy: using(9)},
	}}
	other := &Project{ID: "other", UID: "p2"}
	for _, tt := range []struct {
		name    string
		segment int64
		project *Project
		users   string // "" for no conflict
	}{
		{"for all", 7, nil, ""},
		{"for the project of its flags", 7, shop, ""},
		{"for another", 7, other, `flag "a", archived flag "old"`},
		{"for the project of its default strategy", 8, shop, ""},
		{"for another than the default strategy's", 8, other, `default strategy of project "shop" in environment "development"`},
		{"with a default strategy in a deleted environment", 9, other, ""},
	} {
		s := &Segment{ID: tt.segment, Name: "s"}
		s.SetProject(tt.project)
		err := s.CheckProjectChange(uses, []*Project{shop, other}, registry)
		switch {
		case tt.users == "" && err != nil:
			t.Errorf("%s: got %v, want no error", tt.name, err)
		case tt.users != "" && (KindOf(err) != Conflict || !strings.HasSuffix(err.Error(), "by "+tt.users)):
			t.Errorf("%s: got %v, want a conflict with %s", tt.name, err, tt.users)
		}
	}
}

func TestFeatureUse(t *testing.T) {
	env := ProjectEnvironment{Environment: Environment{Name: "development", UID: "e1"}}
	other := ProjectEnvironment{Environment: Environment{Name: "production", UID: "e2"}}
	f := &Feature{Name: "f", Project: "shop"}
	add := func(env ProjectEnvironment, s Strategy) {
		t.Helper()
		if err := f.AddStrategy(env, s, DefaultLimits()); err != nil {
			t.Fatal(err)
		}
	}
	add(env, Strategy{ID: "plain", Name: "default"})
	if got := f.Use(); len(got.Strategies) != 0 {
		t.Errorf("without segments and constraints: %v, want nothing", got)
	}
	add(other, Strategy{ID: "b", Name: "default", Segments: []int64{3, 1}})
	add(env, Strategy{ID: "a", Name: "userWithId", Segments: []int64{3}, Constraints: []Constraint{in("tier", "x"), in("country", "NO"), in("tier", "y")}})
	want := FeatureUse{Feature: "f", Project: "shop", Strategies: []StrategyUse{
		{ID: "a", Name: "userWithId", Environment: "development", EnvironmentUID: "e1", Segments: []int64{3}, ContextFields: []string{"country", "tier"}},
		{ID: "b", Name: "default", Environment: "production", EnvironmentUID: "e2", Segments: []int64{3, 1}},
	}}
	if diff := cmp.Diff(want, f.Use()); diff != "" {
		t.Errorf("use (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{1, 3}, f.Segments()); diff != "" {
		t.Errorf("segments (-want +got):\n%s", diff)
	}
}
