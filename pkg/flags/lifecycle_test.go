package flags

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// told formats a history: stages, each with the days from monday to its entry.
func told(history []Phase) string {
	var list []string
	for _, p := range history {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %d %s %s", p.Stage, int(p.EnteredAt.Sub(monday).Hours()/24), p.Status, p.Value)))
	}
	return strings.Join(list, ", ")
}

func TestLifecycle(t *testing.T) {
	development, production := inEnvironment("d", "uid-d", "a"), inEnvironment("p", "uid-p", "b")
	development.Type, production.Type = "development", ProductionType
	day := func(n int) time.Time { return monday.AddDate(0, 0, n) }
	kept := Completion{Status: KeptWithVariant, Value: "blue"}
	tests := []struct {
		name  string
		steps []func(f *Feature)
		want  string
	}{
		{"created", nil, "initial 0"},
		{"completed", []func(*Feature){func(f *Feature) { f.Complete(kept, day(1)) }}, "initial 0, completed 1 kept-with-variant blue"},
		{"completed without a word", []func(*Feature){func(f *Feature) { f.Complete(Completion{}, day(1)) }}, "initial 0, completed 1"},
		{"completed again, to another outcome", []func(*Feature){
			func(f *Feature) { f.Complete(kept, day(1)) }, func(f *Feature) { f.Complete(Completion{Status: Discarded}, day(2)) },
		}, "initial 0, completed 1 discarded"},
		{"uncompleted", []func(*Feature){func(f *Feature) { f.Complete(kept, day(1)) }, (*Feature).Uncomplete}, "initial 0"},
		{"uncompleted while it was not completed", []func(*Feature){(*Feature).Uncomplete}, "initial 0"},
		{"used in development", []func(*Feature){func(f *Feature) { f.RecordUse(development, day(1)) }}, "initial 0, pre-live 1"},
		{"used there again", []func(*Feature){
			func(f *Feature) { f.RecordUse(development, day(1)) }, func(f *Feature) { f.RecordUse(development, day(2)) },
		}, "initial 0, pre-live 1"},
		{"used in production", []func(*Feature){
			func(f *Feature) { f.RecordUse(development, day(1)) }, func(f *Feature) { f.RecordUse(production, day(2)) },
			func(f *Feature) { f.RecordUse(development, day(3)) }, func(f *Feature) { f.RecordUse(production, day(4)) },
		}, "initial 0, pre-live 1, live 2"},
		{"used in production alone", []func(*Feature){func(f *Feature) { f.RecordUse(production, day(1)) }}, "initial 0, live 1"},
		{"completed, and uncompleted, while it was live", []func(*Feature){
			func(f *Feature) { f.RecordUse(production, day(1)) }, func(f *Feature) { f.Complete(kept, day(2)) }, (*Feature).Uncomplete,
		}, "initial 0, live 1"},
		{"used while it is completed", []func(*Feature){
			func(f *Feature) { f.Complete(kept, day(1)) }, func(f *Feature) { f.RecordUse(production, day(2)) },
		}, "initial 0, completed 1 kept-with-variant blue"},
		{"archived", []func(*Feature){
			func(f *Feature) { f.Complete(kept, day(1)) }, func(f *Feature) { _ = f.Archive(day(2)) },
		}, "initial 0, completed 1 kept-with-variant blue, archived 2"},
		{"changed while it is archived", []func(*Feature){
			func(f *Feature) { _ = f.Archive(day(1)) }, func(f *Feature) { f.Complete(kept, day(2)) },
			(*Feature).Uncomplete, func(f *Feature) { f.RecordUse(production, day(2)) },
		}, "initial 0, archived 1"},
		{"revived", []func(*Feature){
			func(f *Feature) { f.Complete(kept, day(1)) }, func(f *Feature) { _ = f.Archive(day(2)) }, func(f *Feature) { f.Revive(day(3)) },
		}, "initial 3"},
		{"revived while it was active", []func(*Feature){func(f *Feature) { f.Revive(day(3)) }}, "initial 0"},
		{"cloned", []func(*Feature){
			func(f *Feature) { f.Complete(kept, day(1)) }, func(f *Feature) { *f = *f.CloneAs("g", true, &Environments{}, "", day(2), counter()) },
		}, "initial 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &Feature{Name: "f", CreatedAt: monday}
			for _, step := range tt.steps {
				was := f.Clone()
				before := told(was.History())
				step(f)
				if after := told(was.History()); after != before {
					t.Errorf("the flag that was cloned has changed from %q to %q, too", before, after)
				}
			}
			if got := told(f.History()); got != tt.want {
				t.Errorf("history %q, want %q", got, tt.want)
			}
			if got, want := f.Summary().Phase(), f.Phase(); got != want {
				t.Errorf("in lists %+v, want %+v", got, want)
			}
		})
	}
}
