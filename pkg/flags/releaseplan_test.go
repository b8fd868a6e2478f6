package flags

import (
	"encoding/json"
	"testing"
	"time"
)

// TestCheckByPlan changes a flag with a plan in ways of which a plan may do some by itself.
func TestCheckByPlan(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	in := ProjectEnvironment{Environment{Name: "production", UID: "e"}, Attachment{ID: "a"}}
	stage := func(id string) Milestone {
		return Milestone{ID: id, Name: id, Minutes: 5, Strategies: []Strategy{{ID: "of " + id, Name: "default"}}}
	}
	f := &Feature{Name: "f", Version: 1}
	f.setEnvironment(in, FeatureEnvironment{EnvironmentState: EnvironmentState{EnvironmentUID: "e"}, Strategies: []Strategy{{ID: "own", Name: "default"}}})
	if err := f.AddPlan(in, ReleasePlan{ID: "p", CreatedAt: at, Milestones: []Milestone{stage("m1"), stage("m2"), stage("m3")},
		Safeguards: []Safeguard{{ID: "s", Signal: "errors", Action: SafeguardOff}, {ID: "t", Signal: "slow", Action: SafeguardPause}}}, ExistingKeep, DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	if err := f.Enable(in, func() string { return "new" }, at); err != nil {
		t.Fatal(err)
	}
	later := at.Add(time.Hour)
	for name, c := range map[string]struct {
		change func(f *Feature)
		may    bool
	}{
		"nothing":             {func(*Feature) {}, true},
		"the next milestone":  {func(f *Feature) { f.Advance(in, later) }, true},
		"the same again":      {func(f *Feature) { f.Wait(in, later) }, true},
		"a safeguard":         {func(f *Feature) { f.Trigger(in, "s", later) }, true},
		"both":                {func(f *Feature) { f.Trigger(in, "s", later); f.Trigger(in, "t", later) }, true},
		"one that pauses":     {func(f *Feature) { f.Trigger(in, "t", later) }, true},
		"off without one":     {func(f *Feature) { f.Disable(in) }, false},
		"a pause without one": {func(f *Feature) { _ = f.PausePlan(in, "p") }, false},
		"one acknowledged": {func(f *Feature) {
			f.Advance(in, later)
			f.Acknowledge(in, map[string]time.Time{"s": later})
		}, false},
		"one removed":          {func(f *Feature) { f.Advance(in, later); _, _ = f.RemoveSafeguard(in, "p", "s") }, false},
		"two milestones":       {func(f *Feature) { f.Advance(in, later); f.Advance(in, later) }, false},
		"a strategy of people": {func(f *Feature) { f.Advance(in, later); f.setStrategies(in, f.In(in).Strategies[1:]) }, false},
		"an interval": {func(f *Feature) {
			f.Advance(in, later)
			_ = f.SetProgression(in, "m2", "m3", 1)
		}, false},
		"metadata":         {func(f *Feature) { f.Advance(in, later); f.Stale = true }, false},
		"the plan removed": {func(f *Feature) { _ = f.RemovePlan(in, "p") }, false},
		"archived":         {func(f *Feature) { f.Disable(in); f.Archived = true }, false},
	} {
		after := f.Clone()
		c.change(after)
		if err := CheckByPlan([]Write{{Before: f, After: after}}); (err == nil) != c.may {
			t.Errorf("%s: %v, but that a plan may do it is %t", name, err, c.may)
		}
	}
	advanced := f.Clone()
	advanced.Advance(in, later)
	if err := CheckByPlan([]Write{{Before: f, After: advanced}, {Before: f, After: advanced}}); err == nil {
		t.Error("a plan may write two aggregates")
	}
	if err := CheckByPlan([]Write{{After: advanced}}); err == nil {
		t.Error("a plan may create a flag")
	}
}

// TestSafeguardsOfAllPlans fills the environments of a flag with plans.
func TestSafeguardsOfAllPlans(t *testing.T) {
	t.Parallel()
	f, most := &Feature{Name: "f"}, maxOfFlag/MaxSafeguards
	for i := range most + 1 {
		name := string(rune('a' + i))
		plan := ReleasePlan{ID: name, Milestones: []Milestone{{ID: "m"}}, Safeguards: make([]Safeguard, MaxSafeguards)}
		err := f.AddPlan(ProjectEnvironment{Environment{Name: name, UID: name}, Attachment{ID: name}}, plan, "", DefaultLimits())
		if (err == nil) != (i < most) {
			t.Errorf("plan %d: %v", i+1, err)
		}
	}
}

// TestLargestMilestones checks that a flag has space for all that its plan can write by itself.
func TestLargestMilestones(t *testing.T) {
	at, in := time.Date(2026, 1, 5, 12, 0, 0, 1e6, time.UTC), ProjectEnvironment{Environment{Name: "production", UID: "e"}, Attachment{ID: "a"}}
	f := &Feature{Name: "f", Version: 1}
	f.setEnvironment(in, FeatureEnvironment{EnvironmentState: EnvironmentState{EnvironmentUID: "e"}})
	plan := ReleasePlan{ID: "p", CreatedAt: at, Milestones: []Milestone{{ID: "m", Name: "m", Strategies: []Strategy{{ID: "s", Name: "default"}}}}, Safeguards: []Safeguard{{ID: "s", Signal: "errors", Action: SafeguardPause}}}
	if err := f.AddPlan(in, plan, "", DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	size := func(f *Feature) int {
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		return len(text)
	}
	room := size(f.WithLargestMilestones())
	if err := f.Enable(in, func() string { return "new" }, at); err != nil {
		t.Fatal(err)
	}
	f.Acknowledge(in, map[string]time.Time{"s": at})
	f.Trigger(in, "s", at)
	if got := size(f) - len(`"enabledIn":"a",`); got > room {
		t.Errorf("a plan that has acted takes %d bytes, and there is space for %d", got, room)
	}
}
