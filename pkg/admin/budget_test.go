package admin_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"guidon/internal/capacity"
	"guidon/pkg/access"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/httpapi"
)

// A counter records the DynamoDB calls that pass through it.
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

// during returns the calls that f makes.
func (c *counter) during(f func()) []string {
	c.mu.Lock()
	c.calls = nil
	c.mu.Unlock()
	f()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls
}

// needsList has the routes that need a list to find out that something does not exist.
var needsList = map[string]bool{
	"GET /api/admin/events/{featureName}": true,                               // a flag that never existed has an empty history
	clientMetrics:                         true, clientMetrics + "/raw": true, // and no usage
	"POST " + anApplication:            true, // creates it
	"GET /api/admin/api-tokens/{name}": true, "GET " + allSegments + "/strategies/{strategyId}": true,
}

// TestBudget holds every operation to its number of DynamoDB calls (architecture: Budget).
func TestBudget(t *testing.T) {
	t.Parallel()
	count := &counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	for _, route := range routes(t) {
		t.Run(route, func(t *testing.T) {
			want := examples[route]
			on := s.newSubject(t)
			if prepare := preparations[route]; prepare != nil {
				prepare(s, t, &on)
			}
			c := on.call(route)
			cost := func(what string, calls int, f func()) {
				t.Helper()
				if got := count.during(f); len(got) != calls {
					t.Errorf("%s: %d calls %v, want %d", what, len(got), got, calls)
				}
			}
			cost("first call", want.calls, func() { s.check(t, c) })
			cost("second call", want.again, func() { s.do(t, c.method, c.path, c.body) })
			if isPublic(route) {
				return
			}
			cost("without a token", 0, func() { s.do(t, c.method, c.path, c.body, "Authorization:") })
			cost("with an unknown token", 1, func() { s.do(t, c.method, c.path, c.body, "Authorization: nosuch") })
			cost("a preflight", 0, func() { s.do(t, "OPTIONS", c.path, "") })
			if c.body != "" {
				cost("with a bad body", 1, func() { s.do(t, c.method, c.path, "{") })
			}
			if strings.Contains(route, "{") && !needsList[route] {
				unknown := subject{"nosuch", "nosuch", "nosuch", "nosuch", "nosuch", "nosuch", "nosuch", "nosuch", "nosuch", "99", "99"}.call(route)
				cost("unknown names", 1, func() { s.do(t, unknown.method, unknown.path, c.body) })
			}
		})
	}
	for _, path := range []string{"/", "/nosuch", "/api/admin/nosuch", "/api/admin/features", project + "/", features + "//x"} {
		if got := count.during(func() { s.do(t, "GET", path, "") }); len(got) != 0 {
			t.Errorf("GET %s: calls %v, want none", path, got)
		}
	}
}

// TestBudgetOfLongLists checks that a list costs one call per page and none per flag.
func TestBudgetOfLongLists(t *testing.T) {
	t.Parallel()
	count := &counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.create(t, strings.Fields("a b c d e f g h i j k l m n o p q r s t")...)
	s.must(t, "GET", project, "") // the first request of a token also learns whose favorites go with it
	for _, path := range []string{project, features, "/api/admin/archive/features/default"} {
		got := count.during(func() { s.must(t, "GET", path, "") })
		if strings.Join(got, " ") != "BatchGetItem Query" {
			t.Errorf("GET %s: calls %v, want one BatchGetItem and one Query", path, got)
		}
	}
}

// TestBudgetOfProjectPages checks that the list of projects counts only the flags of the projects on the page.
func TestBudgetOfProjectPages(t *testing.T) {
	t.Parallel()
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

// TestBudgetOfRequestSearch checks that a search for open change requests, which each visible page of the console sends once a minute,
// costs nothing for projects that have never switched them on.
func TestBudgetOfRequestSearch(t *testing.T) {
	t.Parallel()
	count := &counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	for i, id := range []string{"a", "b", "c"} {
		s.must(t, "POST", projects, `{"id":"`+id+`"}`)
		if i > 0 {
			s.must(t, "PUT", projects+"/"+id+"/environments/production/change-requests/config", `{"changeRequestsEnabled":true}`)
		}
		if got := count.during(func() { s.must(t, "GET", "/api/admin/search/change-requests?state=IS:open", "") }); len(got) != 2+i {
			t.Errorf("%d projects with change requests: %d calls %v, want %d", i, len(got), got, 2+i)
		}
	}
}

// TestRefusedSegmentsLoadNoFlags checks that setting the segments of strategies is refused before flags are listed or
// loaded, for a caller who can set them in another project only.
func TestRefusedSegmentsLoadNoFlags(t *testing.T) {
	t.Parallel()
	count := &counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.must(t, "POST", projects, `{"id":"other"}`)
	s.create(t, "f")
	id := s.strategy(t, "f", `{"name":"default"}`)
	body := `{"projectId":"default","strategyId":"` + id + `","environmentId":"development","segmentIds":[` + s.segment(t, `{"name":"one","constraints":[]}`) + `]}`
	for _, tt := range []struct {
		project string // where the caller holds the permission
		status  int
		calls   string
	}{
		// token, user and projects; then the flags
		{"default", 201, "BatchGetItem BatchGetItem BatchGetItem Query BatchGetItem TransactWriteItems"},
		// token, user and projects; then the project of the body
		{"other", 403, "BatchGetItem BatchGetItem BatchGetItem BatchGetItem"},
	} {
		header := as(s.holderOf(t, string(access.UpdateFeatureStrategy), tt.project).secret)
		s.do(t, "GET", "/api/admin/feature-types", "", header) // stores the use of the token, once an hour
		status := 0
		calls := count.during(func() { status = s.do(t, "POST", "/api/admin/segments/strategies", body, header).status })
		if got := strings.Join(calls, " "); status != tt.status || got != tt.calls {
			t.Errorf("with the permission in project %q: status %d after %s, want %d after %s", tt.project, status, got, tt.status, tt.calls)
		}
	}
}

// TestInvalidTokensCostLittle reads the largest possible flag with tokens and sessions that are not valid. Only the first one may cause
// the flag to be read.
func TestInvalidTokensCostLittle(t *testing.T) {
	t.Parallel()
	units := &capacity.Counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = units })
	s.largestFlag(t, "big")
	_, ann := s.person(t, access.RoleViewer)
	another := "Authorization: " + s.adminToken(t, time.Time{})
	deleted, cookie := s.adminToken(t, time.Now().Add(time.Hour)), s.signIn(t, 1)
	s.must(t, "DELETE", apiTokens+"/"+deleted, "")
	get := func(status int, headers ...string) capacity.Cost {
		return units.During(func() {
			s.check(t, call{"the flag", "GET", features + "/big", "", status, anything}, headers...)
		})
	}
	for _, invalid := range []struct {
		name    string
		headers func(i int) []string
	}{
		{"guessed tokens", func(i int) []string { return []string{fmt.Sprintf("Authorization: *:*.%064d", i)} }},
		{"a deleted token", func(int) []string { return []string{"Authorization: " + deleted} }},
		{"forged sessions", func(i int) []string {
			return []string{"Authorization:", fmt.Sprintf("%s%064d", cookie[:len(cookie)-64], i)}
		}},
	} {
		read, calls := 0.0, 0
		for i := range 20 {
			cost := get(401, invalid.headers(i)...)
			read, calls = read+cost.Read, calls+cost.Calls
		}
		if read > 105+20*3 || calls > 20 {
			t.Errorf("20 requests with %s: %v read units in %d calls, want at most 165 in 20", invalid.name, read, calls)
		}
	}
	// Of a session, the user's own item is read only if there is such a session. A user with ten tokens has 10 KB.
	user, _ := s.person(t, access.RoleViewer)
	own := s.signIn(t, user)
	for i := range 10 {
		body := fmt.Sprintf(`{"description":%q,"expiresAt":%q}`, strconv.Itoa(i)+strings.Repeat("😀", 250), time.Now().Add(time.Hour).Format(time.RFC3339))
		s.check(t, call{"a token", "POST", ownTokens, body, 201, anything}, inSession(own)...)
	}
	forged := fmt.Sprintf("%s%064d", own[:len(own)-64], 0)
	get(401, "Authorization:", forged)
	if cost := get(401, "Authorization:", forged); cost.Read > 1 || cost.Calls > 1 {
		t.Errorf("a forged session takes %+v, want one unit", cost)
	}
	// Tokens of applications are public, and are refused wherever they are.
	public, first := "Authorization: "+dynamotest.FrontendToken, get(403, "Authorization: "+dynamotest.FrontendToken)
	if second := get(403, public); second.Read > 3 || second.Calls > 1 {
		t.Errorf("a frontend token takes %+v, and then %+v; want one call of 3 units", first, second)
	}
	for _, valid := range []struct {
		name          string
		headers       []string
		first, second int // calls
	}{{"a token that was seen before", nil, 1, 1}, {"another token", []string{another}, 4, 1}, {"a personal token", []string{ann}, 4, 2}} {
		first, second := get(200, valid.headers...), get(200, valid.headers...)
		if first.Calls > valid.first || second.Calls > valid.second {
			t.Errorf("%s takes %d calls after invalid ones, and then %d; want %d and %d", valid.name, first.Calls, second.Calls, valid.first, valid.second)
		}
	}
}
