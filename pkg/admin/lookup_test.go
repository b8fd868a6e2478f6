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

	"guidon/pkg/access"
	"guidon/pkg/admin"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// The lookup of a token must not help an attacker who guesses tokens: refused lookups cost the same as good ones, and none is
// cached.

// guesses returns the tokens to try by name, with the expected status.
func guesses(t *testing.T, s *apitest.Server, now time.Time) map[string]struct {
	secret string
	status int
} {
	t.Helper()
	deleted := s.APIToken(t, `{"tokenName":"deleted","type":"admin"}`)
	s.Must(t, "DELETE", apitest.TokenPath(deleted), "")
	const admin = dynamotest.AdminToken
	return map[string]struct {
		secret string
		status int
	}{
		"good": {admin, 200}, "a client token": {dynamotest.ClientToken, 403}, "unknown": {strings.Repeat("x", len(admin)), 401},
		"wrong first character": {"+" + admin[1:], 401}, "wrong last character": {admin[:len(admin)-1] + "m", 401},
		"expired": {s.AdminToken(t, now), 401}, "deleted": {deleted, 401},
	}
}

// TestLookupCost checks that accepting and refusing a token takes the same DynamoDB call and about as much work in the
// process.
func TestLookupCost(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(c *httpapi.Config, transport *http.RoundTripper) {
		c.Now, *transport = func() time.Time { return now }, count
	})
	guesses := guesses(t, s, now)
	store := &remembering{Store: s.Store, loads: map[string]flags.View{}}
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
		get(s.Handler) // records the use of a token, which happens once an hour
		calls := count.During(func() {
			if got := get(s.Handler); got != guess.status {
				t.Errorf("%s: status %d, want %d", name, got, guess.status)
			}
		})
		if want := []string{"BatchGetItem"}; !slices.Equal(calls, want) {
			t.Errorf("%s: calls %q, want %q", name, calls, want)
		}
		allocations[name] = math.Inf(1)
		for range 5 { // the minimum of several runs, because of background work of the process
			allocations[name] = min(allocations[name], testing.AllocsPerRun(20, func() { get(kept) }))
		}
	}
	t.Logf("allocations: %v", allocations)
	refused := maps.Clone(allocations)
	maps.DeleteFunc(refused, func(name string, _ float64) bool { return guesses[name].status != 401 })
	least, most := slices.Min(slices.Collect(maps.Values(refused))), slices.Max(slices.Collect(maps.Values(refused)))
	if most-least > 6 {
		t.Errorf("allocations %v: those of refused tokens differ by %v, want at most 6", allocations, most-least)
	}
	if good := allocations["good"]; least > 2*good || most < good/20 {
		t.Errorf("allocations %v: refused and good lookups differ too much", allocations)
	}
}

// TestLookupsAreNotCached checks that a token works as soon as it is created, even if it was refused just before, and is refused
// as soon as it is deleted.
func TestLookupsAreNotCached(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	const secret = "*:*.created-later"
	use := func() int { return s.Do(t, "GET", apitest.Project, "", apitest.As(secret)).Status }
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got, err := s.Try("GET", apitest.Project, "", apitest.As(secret)); err != nil || got.Status != 401 {
				t.Errorf("before it is created: %d, %v; want 401", got.Status, err)
			}
		})
	}
	wg.Wait()
	token := &access.Token{Hash: access.HashSecret(secret), Name: "later", Type: access.AdminToken, Projects: []string{"*"}, Environment: "*"}
	err := s.Store.Commit(t.Context(), flags.Change{
		Writes: []flags.Write{{After: token}}, Event: flags.Event{ID: "event", Type: flags.APITokenCreated},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := use(); got != 200 {
		t.Errorf("after it is created: %d, want 200", got)
	}
	s.Must(t, "DELETE", apitest.TokenPath(secret), "")
	if got := use(); got != 401 {
		t.Errorf("after it is deleted: %d, want 401", got)
	}
}

// A misleading store returns the admin token for every token hash.
type misleading struct {
	httpapi.Store
	admin *access.Token
}

func (m misleading) Load(ctx context.Context, keys []flags.Key) (flags.View, error) {
	view, err := m.Store.Load(ctx, keys)
	for _, key := range keys {
		if key.Entity == access.EntityToken {
			view[key] = m.admin
		}
	}
	return view, err
}

// TestTokenOfAnother reads an item whose hash is not that of the token in the request. The request is refused.
func TestTokenOfAnother(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	key := access.TokenKey(access.HashSecret(dynamotest.AdminToken))
	store := misleading{s.Store, apitest.Load[*access.Token](t, s, key)}
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
