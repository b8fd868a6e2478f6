package dynamo_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"guidon/pkg/dynamo"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// day is the time a number of days after at.
func day(n int) time.Time { return at.AddDate(0, 0, n) }

// commitOn makes a change on a day.
func commitOn(t *testing.T, store *dynamo.Store, on time.Time, writes ...flags.Write) {
	t.Helper()
	c := flags.Change{Writes: writes, Event: flags.Event{ID: uuid.Must(uuid.NewV7()).String(), Type: "changed", CreatedAt: on, CreatedBy: "test"}}
	if err := store.Commit(t.Context(), c); err != nil {
		t.Fatal(reason(err))
	}
}

// TestFlagCounts counts the flags of a project by type and by the day of their creation, after each kind of change.
func TestFlagCounts(t *testing.T) {
	store := dynamotest.Open(t, nil)
	project := &flags.Project{ID: newFlag("f").Project, UID: newFlag("f").ProjectUID, CreatedAt: at}
	other := &flags.Project{ID: "other", UID: "other-uid", CreatedAt: at}
	commitOn(t, store, at, flags.Write{After: project})
	commitOn(t, store, at, flags.Write{After: other})
	created := func(kind flags.FeatureType, on time.Time) flags.Write {
		f := newFlag("f")
		f.Type, f.CreatedAt = kind, on
		return flags.Write{After: f}
	}
	altered := func(alter func(*flags.Feature)) flags.Write { return write(find(t, store, "f"), alter) }
	none, today := flags.FlagCounts{}, flags.DayOf(at)
	for _, step := range []struct {
		name  string
		write func() flags.Write
		want  flags.FlagCounts
		there int // flags in the other project
	}{
		{"created", func() flags.Write { return created(flags.Release, at) }, flags.FlagCounts{
			Active: 1, Types: map[flags.FeatureType]int{flags.Release: 1}, Created: map[flags.Day]int{today: 1},
		}, 0},
		{"another type", func() flags.Write { return altered(func(f *flags.Feature) { f.Type = flags.KillSwitch }) }, flags.FlagCounts{
			Active: 1, Types: map[flags.FeatureType]int{flags.KillSwitch: 1}, Created: map[flags.Day]int{today: 1},
		}, 0},
		{"stale and another type", func() flags.Write {
			return altered(func(f *flags.Feature) { f.Type, f.Stale = flags.Operational, true })
		}, flags.FlagCounts{
			Active: 1, Stale: 1, Types: map[flags.FeatureType]int{flags.Operational: 1}, Created: map[flags.Day]int{today: 1},
		}, 0},
		{"archived", func() flags.Write { return altered(archive) }, none, 0},
		{"another type while archived", func() flags.Write { return altered(func(f *flags.Feature) { f.Type = flags.Release }) }, none, 0},
		{"revived", func() flags.Write { return altered(revive) }, flags.FlagCounts{
			Active: 1, Stale: 1, Types: map[flags.FeatureType]int{flags.Release: 1}, Created: map[flags.Day]int{today: 1},
		}, 0},
		{"moved", func() flags.Write {
			return altered(func(f *flags.Feature) { f.Project, f.ProjectUID = other.ID, other.UID })
		}, none, 1},
	} {
		commitOn(t, store, at, step.write())
		wantFlagCounts(t, store, step.name, project.UID, step.want)
		if there, err := store.Counts(t.Context(), other.UID); err != nil || there.Active != step.there {
			t.Errorf("%s: %d flags in the other project (%v), want %d", step.name, there.Active, err, step.there)
		}
	}
	dynamotest.Check(t, store)
}

// TestOldDays creates flags over a year. Those of the last days are counted exactly, and guards do not grow with the others.
func TestOldDays(t *testing.T) {
	store := dynamotest.Open(t, nil)
	commitOn(t, store, at, flags.Write{After: &flags.Project{ID: newFlag("f").Project, UID: newFlag("f").ProjectUID, CreatedAt: at}})
	const last = 365
	want := map[flags.Day]int{}
	const daily = 2
	for n := 0; n <= last; n++ {
		for i := range daily {
			f := newFlag(fmt.Sprintf("f-%d-%d", n, i))
			f.CreatedAt = day(n)
			commitOn(t, store, day(n), flags.Write{After: f})
		}
		if n > last-flags.CountedDays {
			want[flags.DayOf(day(n))] = daily
		}
	}
	// Flags from before the counted days are archived and revived.
	for n := range 60 {
		name := fmt.Sprintf("f-%d-0", n)
		commitOn(t, store, day(last), write(find(t, store, name), archive))
		commitOn(t, store, day(last), write(find(t, store, name), revive))
	}
	got, err := store.Counts(t.Context(), newFlag("f").ProjectUID)
	if err != nil {
		t.Fatal(err)
	}
	if n := daily * (last + 1); got.Active != n || got.Types[newFlag("f").Type] != n {
		t.Errorf("%+v, want %d flags", got, n)
	}
	kept := len(got.Created)
	maps.DeleteFunc(got.Created, func(d flags.Day, _ int) bool { return d <= flags.DayOf(day(last))-flags.CountedDays })
	if diff := cmp.Diff(want, got.Created); diff != "" {
		t.Errorf("flags by the day of their creation (-want +got):\n%s", diff)
	}
	if kept > 2*flags.CountedDays {
		t.Errorf("the guards have %d days, want about %d", kept, len(want))
	}
	dynamotest.Check(t, store)
}

func wantFlagCounts(t *testing.T, store *dynamo.Store, step, uid string, want flags.FlagCounts) {
	t.Helper()
	got, err := store.Counts(t.Context(), uid)
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(got.Types, func(_ flags.FeatureType, n int) bool { return n == 0 })
	maps.DeleteFunc(got.Created, func(_ flags.Day, n int) bool { return n == 0 })
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", step, diff)
	}
}
