package admin_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"guidon/internal/capacity"
	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// needsList has the routes that need a list to find out that something does not exist.
var needsList = map[string]bool{
	"GET /api/admin/events/{featureName}": true,                               // a flag that never existed has an empty history
	clientMetrics:                         true, clientMetrics + "/raw": true, // and no usage
	"POST " + anApplication:            true, // creates it
	"GET /api/admin/api-tokens/{name}": true, "GET " + apitest.Segments + "/strategies/{strategyId}": true,
}

// TestBudget holds every operation to its number of DynamoDB calls (architecture: Budget).
func TestBudget(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	for _, route := range routes(t) {
		t.Run(route, func(t *testing.T) {
			want := examples[route]
			on := newSubject(t, s)
			if prepare := preparations[route]; prepare != nil {
				prepare(t, s, &on)
			}
			c := on.call(route)
			cost := func(what string, calls int, f func()) {
				t.Helper()
				if got := count.During(f); len(got) != calls {
					t.Errorf("%s: %d calls %v, want %d", what, len(got), got, calls)
				}
			}
			cost("first call", want.calls, func() { s.Check(t, c) })
			cost("second call", want.again, func() { s.Do(t, c.Method, c.Path, c.Body) })
			if isPublic(route) {
				return
			}
			cost("without a token", 0, func() { s.Do(t, c.Method, c.Path, c.Body, "Authorization:") })
			cost("with an unknown token", 1, func() { s.Do(t, c.Method, c.Path, c.Body, "Authorization: nosuch") })
			cost("a preflight", 0, func() { s.Do(t, "OPTIONS", c.Path, "") })
			if c.Body != "" {
				cost("with a bad body", 1, func() { s.Do(t, c.Method, c.Path, "{") })
			}
			if strings.Contains(route, "{") && !needsList[route] {
				unknown := subject{"nosuch", "nosuch", "nosuch", "nosuch", "nosuch", "nosuch", "nosuch", "nosuch", "nosuch", "99", "99", "nosuch", "nosuch", "nosuch", "nosuch"}.call(route)
				cost("unknown names", 1, func() { s.Do(t, unknown.Method, unknown.Path, c.Body) })
			}
		})
	}
	for _, path := range []string{"/", "/nosuch", "/api/admin/nosuch", "/api/admin/features", apitest.Project + "/", apitest.Features + "//x"} {
		if got := count.During(func() { s.Do(t, "GET", path, "") }); len(got) != 0 {
			t.Errorf("GET %s: calls %v, want none", path, got)
		}
	}
}

// TestBudgetOfLongLists checks that a list costs one call per page and none per flag.
func TestBudgetOfLongLists(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.Create(t, strings.Fields("a b c d e f g h i j k l m n o p q r s t")...)
	s.Must(t, "GET", apitest.Project, "") // the first request of a token also learns whose favorites go with it
	for _, path := range []string{apitest.Project, apitest.Features, "/api/admin/archive/features/default"} {
		got := count.During(func() { s.Must(t, "GET", path, "") })
		if strings.Join(got, " ") != "BatchGetItem Query" {
			t.Errorf("GET %s: calls %v, want one BatchGetItem and one Query", path, got)
		}
	}
}

// TestBudgetOfProjectPages checks that the list of projects counts only the flags of the projects on the page.
func TestBudgetOfProjectPages(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	for _, id := range []string{"a", "b", "c"} {
		s.Must(t, "POST", apitest.Projects, `{"id":"`+id+`"}`)
	}
	for query, want := range map[string]int{"": 6, "?limit=1": 3, "?offset=2&limit=5": 4} {
		if got := count.During(func() { s.Must(t, "GET", apitest.Projects+query, "") }); len(got) != want {
			t.Errorf("GET %s: %d calls %v, want %d", apitest.Projects+query, len(got), got, want)
		}
	}
}

// TestBudgetOfRequestSearch checks that a search for open change requests, which each visible page of the console sends once a minute,
// costs nothing for projects that have never switched them on.
func TestBudgetOfRequestSearch(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	for i, id := range []string{"a", "b", "c"} {
		s.Must(t, "POST", apitest.Projects, `{"id":"`+id+`"}`)
		if i > 0 {
			s.Must(t, "PUT", apitest.Projects+"/"+id+"/environments/production/change-requests/config", `{"changeRequestsEnabled":true}`)
		}
		if got := count.During(func() { s.Must(t, "GET", "/api/admin/search/change-requests?state=IS:open", "") }); len(got) != 2+i {
			t.Errorf("%d projects with change requests: %d calls %v, want %d", i, len(got), got, 2+i)
		}
	}
}

// TestRefusedSegmentsLoadNoFlags checks that setting the segments of strategies is refused before flags are listed or
// loaded, for a caller who can set them in another project only.
func TestRefusedSegmentsLoadNoFlags(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.Must(t, "POST", apitest.Projects, `{"id":"other"}`)
	s.Create(t, "f")
	id := s.AddStrategy(t, "f", `{"name":"default"}`)
	body := `{"projectId":"default","strategyId":"` + id + `","environmentId":"development","segmentIds":[` + s.AddSegment(t, `{"name":"one","constraints":[]}`) + `]}`
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
		header := apitest.As(holderOf(t, s, string(access.UpdateFeatureStrategy), tt.project).secret)
		s.Do(t, "GET", "/api/admin/feature-types", "", header) // stores the use of the token, once an hour
		status := 0
		calls := count.During(func() { status = s.Do(t, "POST", "/api/admin/segments/strategies", body, header).Status })
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
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = units })
	largestFlag(t, s, "big")
	_, ann := s.Person(t, access.RoleViewer)
	another := "Authorization: " + s.AdminToken(t, time.Time{})
	deleted, cookie := s.AdminToken(t, time.Now().Add(time.Hour)), s.SignIn(t, 1)
	s.Must(t, "DELETE", apitest.APITokens+"/"+deleted, "")
	get := func(status int, headers ...string) capacity.Cost {
		return units.During(func() {
			s.Check(t, apitest.Call{"the flag", "GET", apitest.Features + "/big", "", status, apitest.Anything}, headers...)
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
	user, _ := s.Person(t, access.RoleViewer)
	own := s.SignIn(t, user)
	for i := range 10 {
		body := fmt.Sprintf(`{"description":%q,"expiresAt":%q}`, strconv.Itoa(i)+strings.Repeat("😀", 250), time.Now().Add(time.Hour).Format(time.RFC3339))
		s.Check(t, apitest.Call{"a token", "POST", apitest.OwnTokens, body, 201, apitest.Anything}, apitest.InSession(own)...)
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

// TestFavoriteUnits has a viewer add the largest possible flag to the favorites, and as many others as allowed: it must cost about as
// much as with a small flag, which it did not when favorites were in the flag.
func TestFavoriteUnits(t *testing.T) {
	t.Parallel()
	units := &capacity.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = units })
	largestFlag(t, s, "big")
	ann, annsHeader := s.Person(t, access.RoleViewer)
	owner := fmt.Sprintf("user:%d", ann)
	before := s.Newest(t)[0].ID
	s.Check(t, apitest.Call{"read it", "GET", apitest.Features + "/big", "", 200, apitest.Anything}, annsHeader)
	for _, method := range []string{"POST", "POST", "DELETE", "POST"} {
		if cost := units.During(func() {
			s.Check(t, apitest.Call{method, method, apitest.Features + "/big/favorites", "", 200, ""}, annsHeader)
		}); cost.Write > 1 || cost.Calls > 3 {
			t.Errorf("%s a favorite: %+v, want at most 1 write unit and 3 calls", method, cost)
		}
	}
	if after := s.Newest(t)[0].ID; after != before {
		t.Errorf("%d events of favorites, want none", after-before)
	}
	many := &flags.Favorites{Owner: owner, Flags: map[string]bool{}}
	for i := range flags.MaxFavorites {
		many.Flags[fmt.Sprintf("%0*d", flags.MaxName, i)] = true
	}
	delete(many.Flags, fmt.Sprintf("%0*d", flags.MaxName, 0))
	load := func(key flags.Key) flags.Aggregate {
		view, err := s.Store.Load(t.Context(), []flags.Key{key})
		if err != nil {
			t.Fatal(err)
		}
		return view[key]
	}
	if err := s.Store.PutUnlogged(t.Context(), load(flags.FavoritesKey(owner)), many); err != nil {
		t.Fatal(err)
	}
	if cost := units.During(func() {
		s.Check(t, apitest.Call{"the last", "POST", apitest.Features + "/big/favorites", "", 200, ""}, annsHeader)
	}); cost.Write > 25 {
		t.Errorf("the last of %d favorites writes %v units, want at most 25", flags.MaxFavorites, cost.Write)
	}
	s.Create(t, "more")
	s.Check(t, apitest.Call{"one too many", "POST", apitest.Features + "/more/favorites", "", 400, apitest.Malformed("you have 200 favorites")}, annsHeader)
	s.Check(t, apitest.Call{"a project too many", "POST", apitest.Project + "/favorites", "", 400, apitest.Malformed("you have 200 favorites")}, annsHeader)
	s.Check(t, apitest.Call{"remove one", "DELETE", apitest.Features + "/big/favorites", "", 200, ""}, annsHeader)
	s.Check(t, apitest.Call{"there is room again", "POST", apitest.Features + "/more/favorites", "", 200, ""}, annsHeader)
}
