package releases_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
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

// TestSignalsGoWithTheirEnvironment removes an environment from its project, and with it its signals.
func TestSignalsGoWithTheirEnvironment(t *testing.T) {
	t.Parallel()
	s, _, _, secret := guardedFlag(t, "off")
	key := flags.SignalsKey(flags.AttachmentOfSecret(secret))
	s.Must(t, "DELETE", apitest.Project+"/environments/development", "")
	if view, err := s.Store.Load(t.Context(), []flags.Key{key}); err != nil || flags.Find[*flags.Signals](view, key) != nil {
		t.Errorf("the signals are stored: %v, %v", view, err)
	}
	if got := post(t, s, "errors", secret, `{"status":"firing"}`); got != 401 {
		t.Errorf("status %d, want 401", got)
	}
}

// TestSignalIsSentAgain posts a signal while the store does not respond: monitoring systems repeat only what a 5xx refuses.
func TestSignalIsSentAgain(t *testing.T) {
	t.Parallel()
	network := &cut{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = network })
	secret := newSignal(t, s, signalsPath, "errors")
	network.down.Store(true)
	got := s.Do(t, "POST", "/api/signals/errors", `{"status":"firing"}`, "Authorization: Bearer "+secret)
	if got.Status != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" {
		t.Errorf("status %d with Retry-After %q, want a 503 with it", got.Status, got.Header.Get("Retry-After"))
	}
	network.down.Store(false)
	if got := post(t, s, "errors", secret, `{"status":"firing"}`); got != http.StatusNoContent {
		t.Errorf("status %d, want 204", got)
	}
}

// A cut is a network that can be down.
type cut struct{ down atomic.Bool }

func (c *cut) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.down.Load() {
		return nil, errors.New("the network is down")
	}
	return http.DefaultTransport.RoundTrip(r)
}
