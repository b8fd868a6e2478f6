package dynamo_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"guidon/pkg/flags"
)

var parallelCases = []testCase{
	{"32 callers create a flag of the same name", func(t *storeTest) {
		const callers = 32
		changes := make([]flags.Change, callers)
		errs := make([]error, callers)
		var wg sync.WaitGroup
		for i := range callers {
			f := flag("u1", "wanted")
			f.CreatedBy = fmt.Sprint(i)
			changes[i] = change("added", addition(f))
			wg.Go(func() { errs[i] = t.commit(changes[i]) })
		}
		wg.Wait()
		made := slices.IndexFunc(errs, func(err error) bool { return err == nil })
		if made < 0 {
			t.Fatalf("no caller created it; the first got: %v", withCause(errs[0]))
		}
		for i, err := range errs {
			if i != made {
				t.wantKind(err, flags.NameExists)
			}
		}
		f := mustFind[*flags.Feature](t, flags.FeatureKey("wanted"))
		events := t.mustEvents(f)
		if f.CreatedBy != fmt.Sprint(made) || len(events) != 1 || events[0].ID != changes[made].Event.ID {
			t.Errorf("got the flag of %s and %d events, want what caller %d made", f.CreatedBy, len(events), made)
		}
		t.wantNames("u1", false, "wanted")
	}},
	{"50 callers change one flag", func(t *storeTest) {
		const callers = 50
		f := flag("u1", "busy")
		t.mustAdd(f)
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() { t.changeUntilDone(f.Key(), fmt.Sprintf("env-%02d", i)) })
		}
		wg.Wait()
		got := mustFind[*flags.Feature](t, f.Key())
		for i := range callers {
			if name := fmt.Sprintf("env-%02d", i); got.Environments[name].EnvironmentUID != name {
				t.Errorf("the change %s was lost", name)
			}
		}
		t.wantVersion(f, callers+1)
		if list := t.mustSummaries("u1", false); len(list) != 1 || len(list[0].Environments) != callers {
			t.Errorf("the list does not show all changes: %+v", list)
		}
	}},
}

// changeUntilDone adds an environment to a flag, and retries while other writers are first.
func (t *storeTest) changeUntilDone(key flags.Key, name string) {
	for {
		view, err := t.store.Load(t.Context(), []flags.Key{key})
		if err != nil {
			t.Errorf("%s: load: %v", name, withCause(err))
			return
		}
		read := flags.Find[*flags.Feature](view, key)
		before := read.Version
		err = t.commit(change("changed", update(read, func(f *flags.Feature) {
			if f.Environments == nil {
				f.Environments = map[string]flags.FeatureEnvironment{}
			}
			f.Environments[name] = flags.FeatureEnvironment{EnvironmentState: flags.EnvironmentState{EnvironmentUID: name}}
		})))
		if err == nil {
			return
		}
		if flags.KindOf(err) != flags.VersionConflict {
			t.Errorf("%s over version %d: %v", name, before, withCause(err))
			return
		}
		time.Sleep(rand.N(20 * time.Millisecond))
	}
}
