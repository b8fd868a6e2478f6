package releases_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"guidon/pkg/admin/releases"
	"guidon/pkg/apitest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// TestSafeguardAndStep has a signal fire in the moment of a step: whichever comes first, the plan ends stopped, in the run of which the strategies are.
func TestSafeguardAndStep(t *testing.T) {
	t.Parallel()
	s, clock, _, secret := guardedFlag(t, "pause")
	clock.Advance(time.Hour)
	var posting sync.WaitGroup
	posting.Go(func() {
		for post(t, s, "errors", secret, `{"status":"firing"}`) == 503 {
		}
	})
	minute(t, s, clock, nil, 3)
	posting.Wait()
	run, share := int64(1), "10"
	if shares(t, s, "f")[0] == "50" {
		run, share = 2, "50"
	}
	stands(t, s, "stopped", run, share)
	clock.Advance(2 * time.Hour)
	minute(t, s, clock, nil, 3)
	stands(t, s, "stopped", run, share)
	s.WantEvents(t, "f", flags.SafeguardTriggered, 1)
}

// TestSafeguardAndStart has a client repeat a start of which it got no answer, after a safeguard has acted.
func TestSafeguardAndStart(t *testing.T) {
	t.Parallel()
	s, _, p, secret := guardedFlag(t, "pause")
	s.Must(t, "POST", p.start("f", 1), "")
	post(t, s, "errors", secret, `{"status":"firing"}`)
	if got := s.Do(t, "POST", p.start("f", 1), "", `If-Match: "1"`); got.Status != 200 {
		t.Errorf("status %d, want 200: the milestone is running", got.Status)
	}
	stands(t, s, "stopped", 2, "50")
}

// A slowStore does something before it moves what is due.
type slowStore struct {
	releases.DueStore
	first func()
}

func (s slowStore) MoveDue(ctx context.Context, from flags.Due, to *flags.Due) error {
	s.first()
	return s.DueStore.MoveDue(ctx, from, to)
}

// TestSafeguardIsLookedAtInTheNextRun has a run begin while a runner ends that has found the run before over.
func TestSafeguardIsLookedAtInTheNextRun(t *testing.T) {
	t.Parallel()
	s, clock, _, secret := guardedFlag(t, "off")
	var looks []flags.Due
	if err := s.Store.Due(t.Context(), clock.Time(), func(d flags.Due) bool { looks = append(looks, d); return true }); err != nil || len(looks) != 1 {
		t.Fatalf("due are %v, %v; want the safeguard", looks, err)
	}
	post(t, s, "errors", secret, `{"status":"firing"}`)
	post(t, s, "errors", secret, `{"status":"resolved"}`)
	on := sync.OnceFunc(func() { s.Must(t, "POST", apitest.In("f", "development")+"/on", "") })
	runner := httpapi.NewRunner(s.Store, httpapi.Config{Limits: flags.DefaultLimits(), Now: clock.Time})
	if _, err := releases.Advance(t.Context(), runner, slowStore{s.Store, on}, looks[0]); err != nil {
		t.Fatal(err)
	}
	on()
	stands(t, s, "running", 2, "10")
	post(t, s, "errors", secret, `{"status":"firing"}`)
	stands(t, s, "off", 2, "10")
}

// TestSignalOfArchivedFlag archives a flag with a safeguard, whose signal stays until the flag is back.
func TestSignalOfArchivedFlag(t *testing.T) {
	t.Parallel()
	s, clock, _, secret := guardedFlag(t, "pause")
	s.Must(t, "DELETE", apitest.Features+"/f", "")
	due := 0
	if err := s.Store.Due(t.Context(), clock.Time().AddDate(1, 0, 0), func(flags.Due) bool { due++; return true }); err != nil || due != 0 {
		t.Errorf("%d are due of an archived flag, %v", due, err)
	}
	post(t, s, "errors", secret, `{"status":"firing"}`)
	s.Run(t, []apitest.Call{
		{"the signal is in use", "DELETE", signalsPath + "/errors", "", 409, apitest.Failure("ConflictError", `archived flag "f"`)},
		{"revive", "POST", "/api/admin/archive/revive/f", "", 200, ""},
		{"switch on", "POST", apitest.In("f", "development") + "/on", "", 200, apitest.Anything},
	})
	minute(t, s, clock, nil, 1)
	stands(t, s, "stopped", 2, "10")
	s.WantEvents(t, "f", flags.SafeguardTriggered, 1)
}

// TestSignalsGoWithTheirEnvironment removes an environment from its project, and deletes a project, and with it the signals.
func TestSignalsGoWithTheirEnvironment(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Projects, `{"id":"shop","environments":["development","production"]}`)
	for _, path := range []string{apitest.Project + "/environments/development", apitest.Projects + "/shop"} {
		secret := newSignal(t, s, strings.TrimSuffix(path, "/environments/development")+"/environments/development/signals", "errors")
		s.Must(t, "DELETE", path, "")
		key := flags.SignalsKey(flags.AttachmentOfSecret(secret))
		if view, err := s.Store.Load(t.Context(), []flags.Key{key}); err != nil || flags.Find[*flags.Signals](view, key) != nil {
			t.Errorf("%s: the signals are stored: %v, %v", path, view, err)
		}
		if got := post(t, s, "errors", secret, `{"status":"firing"}`); got != 401 {
			t.Errorf("%s: status %d, want 401", path, got)
		}
	}
}
