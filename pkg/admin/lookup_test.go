package admin_test

import (
	"context"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"guidon/pkg/admin"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// How a token is found must tell nothing to whoever guesses: what a look-up costs, and that it is made anew each time.

// guesses are the tokens that are tried, by name, and the status of each.
func (s *server) guesses(t *testing.T, now time.Time) map[string]struct {
	secret string
	status int
} {
	t.Helper()
	deleted := s.apiToken(t, `{"tokenName":"deleted","type":"admin"}`)
	s.must(t, "DELETE", tokenPath(deleted), "")
	const admin = dynamotest.AdminToken
	return map[string]struct {
		secret string
		status int
	}{
		"good": {admin, 200}, "of a client": {dynamotest.ClientToken, 403}, "unknown": {strings.Repeat("x", len(admin)), 401},
		"right but for the first character": {"+" + admin[1:], 401}, "right but for the last": {admin[:len(admin)-1] + "m", 401},
		"expired": {s.adminToken(t, now), 401}, "deleted": {deleted, 401},
	}
}

// TestLookupCost counts what it takes to find that a token is good, and that it is not: the same call of the
// store, and about as much work in the process.
func TestLookupCost(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	count := &counter{}
	s := serve(t, func(c *httpapi.Config, transport *http.RoundTripper) {
		c.Now, *transport = func() time.Time { return now }, count
	})
	guesses := s.guesses(t, now)
	store := &remembering{Store: s.store, loads: map[string]flags.View{}}
	kept := httpapi.New(store, admin.Group("users"), httpapi.Config{Limits: flags.DefaultLimits(), Now: func() time.Time { return now }})
	allocations := map[string]float64{}
	for name, guess := range guesses {
		get := func(handler http.Handler) int {
			r := httptest.NewRequest(http.MethodGet, "/api/admin/permissions", nil)
			r.Header.Set("Authorization", guess.secret)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			return w.Code
		}
		get(s.handler) // notes that a token was used, once an hour
		calls := count.during(func() {
			if got := get(s.handler); got != guess.status {
				t.Errorf("%s: status %d, want %d", name, got, guess.status)
			}
		})
		if want := []string{"BatchGetItem"}; !slices.Equal(calls, want) {
			t.Errorf("%s: calls %q, want %q", name, calls, want)
		}
		allocations[name] = math.Inf(1)
		for range 5 { // the least of some: the process has work of its own
			allocations[name] = min(allocations[name], testing.AllocsPerRun(20, func() { get(kept) }))
		}
	}
	t.Logf("allocations: %v", allocations)
	refused := maps.Clone(allocations)
	maps.DeleteFunc(refused, func(name string, _ float64) bool { return guesses[name].status != 401 })
	least, most := slices.Min(slices.Collect(maps.Values(refused))), slices.Max(slices.Collect(maps.Values(refused)))
	if most-least > 6 {
		t.Errorf("allocations %v: those of the refused differ by %v, want them the same", allocations, most-least)
	}
	if good := allocations["good"]; least > 2*good || most < good/20 {
		t.Errorf("allocations %v: a refused look-up is far from a good one", allocations)
	}
}

// TestLookupsAreNotCached: a token that was refused a moment ago is good once it is made, and one that was good is
// refused once it is gone.
func TestLookupsAreNotCached(t *testing.T) {
	s := serve(t)
	const secret = "*:*.made-later"
	use := func() int { return s.do(t, "GET", project, "", as(secret)).status }
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got, err := s.try("GET", project, "", as(secret)); err != nil || got.status != 401 {
				t.Errorf("before it is made: %d, %v; want 401", got.status, err)
			}
		})
	}
	wg.Wait()
	token := &flags.Token{Hash: flags.HashSecret(secret), Name: "later", Type: flags.AdminToken, Projects: []string{"*"}, Environment: "*"}
	err := s.store.Commit(t.Context(), flags.Change{
		Writes: []flags.Write{{After: token}}, Event: flags.Event{ID: "event", Type: flags.APITokenCreated},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := use(); got != 200 {
		t.Errorf("once it is made: %d, want 200", got)
	}
	s.must(t, "DELETE", tokenPath(secret), "")
	if got := use(); got != 401 {
		t.Errorf("once it is deleted: %d, want 401", got)
	}
}

// A misleading store finds, for every token, that of the administrator.
type misleading struct {
	flags.Store
	admin *flags.Token
}

func (m misleading) Load(ctx context.Context, keys []flags.Key) (flags.View, error) {
	view, err := m.Store.Load(ctx, keys)
	for _, key := range keys {
		if key.Entity == flags.EntityToken {
			view[key] = m.admin
		}
	}
	return view, err
}

// TestTokenOfAnother has an item lie under a hash that is not its own: it lets nobody in.
func TestTokenOfAnother(t *testing.T) {
	s := serve(t)
	key := flags.TokenKey(flags.HashSecret(dynamotest.AdminToken))
	view, err := s.store.Load(t.Context(), []flags.Key{key})
	if err != nil {
		t.Fatal(err)
	}
	store := misleading{s.store, flags.Find[*flags.Token](view, key)}
	handler := httpapi.New(store, admin.Group("users"), httpapi.Config{Limits: flags.DefaultLimits()})
	for secret, want := range map[string]int{dynamotest.AdminToken: 200, "*:*.another": 401, dynamotest.AdminToken + "x": 401} {
		r := httptest.NewRequest(http.MethodGet, "/api/admin/permissions", nil)
		r.Header.Set("Authorization", secret)
		w := httptest.NewRecorder()
		if handler.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%s: status %d, want %d", secret, w.Code, want)
		}
	}
}
