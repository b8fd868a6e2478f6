package admin_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// A counter counts the calls of DynamoDB that pass through it.
type counter struct {
	mu    sync.Mutex
	calls []string
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	c.mu.Lock()
	c.calls = append(c.calls, operation)
	c.mu.Unlock()
	return http.DefaultTransport.RoundTrip(r)
}

// during are the calls that f makes.
func (c *counter) during(f func()) []string {
	c.mu.Lock()
	c.calls = nil
	c.mu.Unlock()
	f()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls
}

// onlyListsKnow are the routes where only a list can tell that there is nothing.
var onlyListsKnow = map[string]bool{
	"GET /api/admin/events/{featureName}": true, // a flag that never was has an empty history
	"GET /api/admin/api-tokens/{name}":    true, "GET " + allSegments + "/strategies/{strategyId}": true,
}

// TestBudget holds every operation to its number of DynamoDB calls (architecture: Budget).
func TestBudget(t *testing.T) {
	count := &counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	for _, route := range routes(t) {
		t.Run(route, func(t *testing.T) {
			want := examples[route]
			on := s.another(t)
			if prepare := apart[route]; prepare != nil {
				prepare(s, t, &on)
			}
			c := on.call(route)
			cost := func(what string, calls int, f func()) {
				t.Helper()
				if got := count.during(f); len(got) != calls {
					t.Errorf("%s: %d calls %v, want %d", what, len(got), got, calls)
				}
			}
			cost("done", want.calls, func() { s.check(t, c) })
			cost("again", want.again, func() { s.do(t, c.method, c.path, c.body) })
			if route == "GET /health" {
				return
			}
			cost("without a token", 0, func() { s.do(t, c.method, c.path, c.body, "Authorization:") })
			cost("with an unknown token", 1, func() { s.do(t, c.method, c.path, c.body, "Authorization: nosuch") })
			cost("a preflight", 0, func() { s.do(t, "OPTIONS", c.path, "") })
			if c.body != "" {
				cost("with a bad body", 1, func() { s.do(t, c.method, c.path, "{") })
			}
			if strings.Contains(route, "{") && !onlyListsKnow[route] {
				nowhere := subject{"nosuch", "nosuch", "nosuch", "nosuch", "nosuch", "nosuch", "nosuch", "nosuch", "nosuch"}.call(route)
				cost("where nothing is", 1, func() { s.do(t, nowhere.method, nowhere.path, c.body) })
			}
		})
	}
	for _, path := range []string{"/", "/nosuch", "/api/admin/nosuch", "/api/admin/features", project + "/", features + "//x"} {
		if got := count.during(func() { s.do(t, "GET", path, "") }); len(got) != 0 {
			t.Errorf("GET %s: calls %v, want none", path, got)
		}
	}
}

// TestBudgetOfLongLists sees that a list costs one call a page, and no flag by itself.
func TestBudgetOfLongLists(t *testing.T) {
	count := &counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.create(t, strings.Fields("a b c d e f g h i j k l m n o p q r s t")...)
	for _, path := range []string{project, features, "/api/admin/archive/features/default"} {
		got := count.during(func() { s.must(t, "GET", path, "") })
		if strings.Join(got, " ") != "BatchGetItem Query" {
			t.Errorf("GET %s: calls %v, want one BatchGetItem and one Query", path, got)
		}
	}
}

// TestBudgetOfProjectPages checks that the list of projects counts only the flags of the projects on the page.
func TestBudgetOfProjectPages(t *testing.T) {
	count := &counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	for _, id := range []string{"a", "b", "c"} {
		s.must(t, "POST", projects, `{"id":"`+id+`"}`)
	}
	for query, want := range map[string]int{"": 6, "?limit=1": 3, "?offset=2&limit=5": 4} {
		if got := count.during(func() { s.must(t, "GET", projects+query, "") }); len(got) != want {
			t.Errorf("GET %s: %d calls %v, want %d", projects+query, len(got), got, want)
		}
	}
}

// TestRefusedSegmentsLoadNoFlags: who may set segments of strategies in another project alone is refused in this one before
// its flags are loaded.
func TestRefusedSegmentsLoadNoFlags(t *testing.T) {
	count := &counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.must(t, "POST", projects, `{"id":"other"}`)
	s.create(t, "f")
	id := s.strategy(t, "f", `{"name":"default"}`)
	h := s.holderOf(t, string(flags.UpdateFeatureStrategy), "other")
	body := `{"projectId":"default","strategyId":"` + id + `","environmentId":"development","segmentIds":[]}`
	loads := func(header string) (status, n int) {
		s.do(t, "GET", "/api/admin/feature-types", "", header) // notes that the token was used, once an hour
		calls := count.during(func() { status = s.do(t, "POST", "/api/admin/segments/strategies", body, header).status })
		for _, name := range calls {
			if name == "BatchGetItem" {
				n++
			}
		}
		return status, n
	}
	allowed, with := loads(as(s.holderOf(t, string(flags.UpdateFeatureStrategy), "default").secret))
	refused, without := loads(as(h.secret))
	if allowed != 201 || refused != 403 || without != with-1 {
		t.Errorf("status %d with %d loads where it may, %d with %d where not; want 201, and 403 with one less", allowed, with, refused, without)
	}
}
