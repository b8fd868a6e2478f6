package releases_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"guidon/pkg/admin/releases"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
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
		{"it fires", "POST", apitest.In("f", "development") + "/on", "", 409, apitest.Failure("ConflictError", "is firing")},
	})
	post(t, s, "errors", secret, `{"status":"resolved"}`)
	s.Must(t, "POST", apitest.In("f", "development")+"/on", "")
	post(t, s, "errors", secret, `{"status":"firing"}`)
	stands(t, s, "stopped", 2, "10")
	s.WantEvents(t, "f", flags.SafeguardTriggered, 1)
}

// TestSignalsGoWithTheirEnvironment removes an environment from its project, and deletes a project and an environment, and with it the signals.
func TestSignalsGoWithTheirEnvironment(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Projects, `{"id":"shop","environments":["development","production"]}`)
	s.Must(t, "POST", apitest.Projects, `{"id":"store","environments":["development"]}`)
	for _, c := range [][2]string{{"default", apitest.Project + "/environments/development"}, {"shop", apitest.Projects + "/shop"}, {"store", "/api/admin/environments/development"}} {
		path := c[1]
		secret := newSignal(t, s, apitest.Projects+"/"+c[0]+"/environments/development/signals", "errors")
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

// TestSafeguardAndDependency lets a safeguard begin to switch a flag off, and a child begin to need that, in the same moment: before the one is
// committed, the other one is sent. It is the other one that counts.
func TestSafeguardAndDependency(t *testing.T) {
	t.Parallel()
	var between atomic.Pointer[func()]
	faults := &dynamotest.Faults{OnRequest: func(operation string, _ []byte) {
		if operation == "TransactWriteItems" {
			if do := between.Swap(nil); do != nil {
				(*do)()
			}
		}
	}}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = faults })
	newSignal(t, s, signalsPath, "errors")
	for i, sent := range []string{"dependency", "import", "safeguard", "plan"} {
		parent, child := fmt.Sprint("parent-", i), fmt.Sprint("child-", i)
		s.Create(t, parent, child)
		s.Must(t, "POST", apitest.Features+"/"+child+"/dependencies", fmt.Sprintf(`{"feature":%q}`, parent)) // so that the parent is not written again
		requests := map[string][3]string{
			"dependency": {"POST", apitest.Features + "/" + child + "/dependencies", fmt.Sprintf(`{"feature":%q,"enabled":false}`, parent)},
			"import": {"POST", apitest.Import, fmt.Sprintf(
				`{"project":"default","environment":"development","data":{"features":[{"name":%q}],"dependencies":[{"feature":%[1]q,"dependencies":[{"feature":%q,"enabled":false}]}]}}`, child, parent)},
			"plan": {"POST", plansOf(parent), guarded([]string{share(10)}, safeguard("errors", "off"))},
		}
		if sent == "safeguard" {
			id := apitest.IDIn(s.Must(t, "POST", plansOf(parent), template("Canary", share(10))).Body)
			requests[sent] = [3]string{"PUT", plansOf(parent) + "/" + id + "/safeguards", safeguard("errors", "off")}
		}
		first, then := requests[sent], requests["plan"]
		if sent == "safeguard" || sent == "plan" {
			then = requests["dependency"]
		}
		do := func() { s.Must(t, then[0], then[1], then[2]) }
		between.Store(&do)
		got := s.Do(t, first[0], first[1], first[2])
		needsOff := strings.Contains(s.Must(t, "GET", apitest.Features+"/"+child, "").Body, fmt.Sprintf(`{"feature":%q,"enabled":false`, parent))
		off := strings.Contains(s.Must(t, "GET", plansOf(parent), "").Body, `"type":"off"`)
		if needsOff == off || off == (sent == "plan" || sent == "safeguard") {
			t.Errorf("%s: status %d %s; the child needs the flag to be off: %t, the safeguard switches it off: %t", sent, got.Status, got.Body, needsOff, off)
		}
	}
	s.Create(t, "parent", "child")
	s.Must(t, "POST", apitest.Features+"/child/dependencies", `{"feature":"parent"}`)
	s.Check(t, apitest.Call{Name: "one that is there twice", Method: "POST", Path: apitest.Import, Status: 200, Want: `{"...":0,"overwritten":1,"skipped":0}`, Body: `{"project":"default",
		"environment":"development","data":{"features":[{"name":"child"}],"dependencies":[{"feature":"child","dependencies":[{"feature":"parent","enabled":false},{"feature":"parent","enabled":false}]}]}}`})
}

// TestDependencyOfStalePlan adds an environment to the project again in which a flag had a plan: the plan does not keep others from depending on
// the flag.
func TestDependencyOfStalePlan(t *testing.T) {
	t.Parallel()
	s, _, _, _ := guardedFlag(t, "off")
	s.Create(t, "child")
	const dependencies, needsOff = apitest.Features + "/child/dependencies", `{"feature":"f","enabled":false}`
	s.Run(t, []apitest.Call{
		{"a plan that counts", "POST", dependencies, needsOff, 409, apitest.Failure("ConflictError", `"Canary"`)},
		{"the environment leaves", "DELETE", apitest.Project + "/environments/development", "", 200, ""},
		{"and comes again", "POST", apitest.Project + "/environments", `{"environment":"development"}`, 200, ""},
		{"one that counts no longer", "POST", dependencies, needsOff, 200, ""},
	})
}
