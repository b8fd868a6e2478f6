package admin_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"guidon/internal/capacity"
	"guidon/pkg/access"
	"guidon/pkg/admin"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

func TestFavorites(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f", "g", "archived")
	s.must(t, "DELETE", features+"/archived", "")
	s.must(t, "POST", "/api/admin/projects", `{"id":"other"}`)
	ann, annsHeader := s.person(t, access.RoleViewer)
	_, ben := s.person(t, access.RoleViewer)
	another := "Authorization: " + s.adminToken(t, time.Time{})
	favorite := func(is bool) string { return fmt.Sprintf(`{"...":0,"name":"f","favorite":%t}`, is) }
	list := func(is bool) string {
		return fmt.Sprintf(`{"...":0,"features":[{"...":0,"name":"f","favorite":%t},{"...":0,"name":"g","favorite":false}]}`, is)
	}
	const admin = "Authorization: " + dynamotest.AdminToken
	for _, tt := range []struct {
		call
		caller string
	}{
		{call{"a new flag", "GET", features + "/f", "", 200, favorite(false)}, admin},
		{call{"remove a favorite that does not exist", "DELETE", features + "/f/favorites", "", 200, ""}, admin},
		{call{"add a favorite", "POST", features + "/f/favorites", "", 200, ""}, admin},
		{call{"add it again", "POST", features + "/f/favorites", "", 200, ""}, admin},
		{call{"add it with a body, which is ignored", "POST", features + "/f/favorites", "{}", 200, ""}, admin},
		{call{"read the flag", "GET", features + "/f", "", 200, favorite(true)}, admin},
		{call{"list flags", "GET", features, "", 200, list(true)}, admin},
		{call{"read the project", "GET", project, "", 200, list(true)}, admin},
		{call{"the response to a change", "POST", in("f", "development") + "/off", "", 200, favorite(true)}, admin},
		{call{"another token does not have it", "GET", features + "/f", "", 200, favorite(false)}, another},
		{call{"a user does not have it", "GET", features, "", 200, list(false)}, annsHeader},
		{call{"a viewer adds a favorite", "POST", features + "/f/favorites", "", 200, ""}, annsHeader},
		{call{"the viewer has it", "GET", features, "", 200, list(true)}, annsHeader},
		{call{"another user does not have it", "GET", features, "", 200, list(false)}, ben},
		{call{"one caller removes it", "DELETE", features + "/f/favorites", "", 200, ""}, admin},
		{call{"that caller no longer has it", "GET", features + "/f", "", 200, favorite(false)}, admin},
		{call{"the other caller keeps it", "GET", features + "/f", "", 200, favorite(true)}, annsHeader},
		{call{"rename the user", "PUT", fmt.Sprintf("/api/admin/user-admin/%d", ann), `{"name":"Ann","username":"another"}`, 200, anything}, admin},
		{call{"a renamed user keeps it", "GET", features + "/f", "", 200, favorite(true)}, annsHeader},
		{call{"clone the flag", "POST", features + "/f/clone", `{"name":"clone"}`, 201, anything}, admin},
		{call{"a clone has no favorites", "GET", features + "/clone", "", 200, `{"...":0,"favorite":false}`}, annsHeader},
		{call{"an unknown flag", "POST", features + "/nosuch/favorites", "", 404, notFound(`"nosuch"`)}, admin},
		{call{"remove an unknown flag", "DELETE", features + "/nosuch/favorites", "", 404, notFound(`"nosuch"`)}, admin},
		{call{"a flag of another project", "POST", "/api/admin/projects/other/features/f/favorites", "", 404, notFound(`"other"`)}, admin},
		{call{"an archived flag", "POST", features + "/archived/favorites", "", 404, notFound("archived")}, admin},
		{call{"remove an archived flag", "DELETE", features + "/archived/favorites", "", 404, notFound("archived")}, admin},
		{call{"a token for SDKs", "POST", features + "/f/favorites", "", 403, failure("NoAccessError", "SDKs")}, "Authorization: " + dynamotest.ClientToken},
	} {
		t.Run(tt.name, func(t *testing.T) { s.check(t, tt.call, tt.caller) })
	}
	if got := s.events(t, "f"); !slices.Equal(got, []flags.EventType{flags.FeatureCreated}) {
		t.Errorf("events %q, want none of favorites", got)
	}
}

// TestFavoriteUnits has a viewer add the largest possible flag to the favorites, and as many others as allowed: it must cost about as
// much as with a small flag, which it did not when favorites were in the flag.
func TestFavoriteUnits(t *testing.T) {
	t.Parallel()
	units := &capacity.Counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = units })
	s.largestFlag(t, "big")
	ann, annsHeader := s.person(t, access.RoleViewer)
	owner := fmt.Sprintf("user:%d", ann)
	before := s.newest(t)[0].ID
	s.check(t, call{"read it", "GET", features + "/big", "", 200, anything}, annsHeader)
	for _, method := range []string{"POST", "POST", "DELETE", "POST"} {
		if cost := units.During(func() { s.check(t, call{method, method, features + "/big/favorites", "", 200, ""}, annsHeader) }); cost.Write > 1 || cost.Calls > 3 {
			t.Errorf("%s a favorite: %+v, want at most 1 write unit and 3 calls", method, cost)
		}
	}
	if after := s.newest(t)[0].ID; after != before {
		t.Errorf("%d events of favorites, want none", after-before)
	}
	many := &flags.Favorites{Owner: owner, Flags: map[string]bool{}}
	for i := range flags.MaxFavorites {
		many.Flags[fmt.Sprintf("%0*d", flags.MaxName, i)] = true
	}
	delete(many.Flags, fmt.Sprintf("%0*d", flags.MaxName, 0))
	load := func(key flags.Key) flags.Aggregate {
		view, err := s.store.Load(t.Context(), []flags.Key{key})
		if err != nil {
			t.Fatal(err)
		}
		return view[key]
	}
	if err := s.store.PutFavorites(t.Context(), load(flags.FavoritesKey(owner)), many); err != nil {
		t.Fatal(err)
	}
	if cost := units.During(func() { s.check(t, call{"the last", "POST", features + "/big/favorites", "", 200, ""}, annsHeader) }); cost.Write > 25 {
		t.Errorf("the last of %d favorites writes %v units, want at most 25", flags.MaxFavorites, cost.Write)
	}
	s.create(t, "more")
	s.check(t, call{"one too many", "POST", features + "/more/favorites", "", 400, malformed("you have 200 favorites")}, annsHeader)
	s.check(t, call{"a project too many", "POST", project + "/favorites", "", 400, malformed("you have 200 favorites")}, annsHeader)
	s.check(t, call{"remove one", "DELETE", features + "/big/favorites", "", 200, ""}, annsHeader)
	s.check(t, call{"there is room again", "POST", features + "/more/favorites", "", 200, ""}, annsHeader)
}

// TestFavoritesWithoutTokens reads favorites from a service that requires no tokens.
func TestFavoritesWithoutTokens(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f")
	s.must(t, "POST", features+"/f/favorites", "")
	for _, group := range admin.Groups() {
		if group.Name == "features" {
			open := httpapi.New(s.store, group, httpapi.Config{Open: true, Limits: flags.DefaultLimits()})
			if got := direct(open, "GET", features+"/f", "").body; len(match(`{"...":0,"favorite":true}`, got)) > 0 {
				t.Errorf("read without a token: %s, want the favorites of the token named admin", got)
			}
		}
	}
}

func TestParallelFavorites(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f")
	s.must(t, "POST", in("f", "development")+"/strategies", `{"name":"default"}`)
	calls := []call{
		{method: "POST", path: features + "/f/favorites"},
		{method: "POST", path: in("f", "development") + "/on"},
		{method: "PUT", path: features + "/f", body: `{"stale":true}`},
		{method: "POST", path: tags("f"), body: `{"type":"simple","value":"mine"}`},
	}
	got := s.parallel(t, 40, func(i int) call { return calls[i%4] })
	wantStatuses(t, got, map[int]int{200: 30, 201: 10})
	s.check(t, call{"no change is lost", "GET", features + "/f", "", 200, `{"...":0,"enabled":true,"stale":true,"favorite":true,"tags":[{"type":"simple","value":"mine"}]}`})
}

func TestFeatureTypes(t *testing.T) {
	t.Parallel()
	s := serve(t)
	kind := func(id, name, days string) string {
		return fmt.Sprintf(`{"id":%q,"name":%q,"description":"<has .>","lifetimeDays":%s}`, id, name, days)
	}
	s.check(t, call{"all", "GET", "/api/admin/feature-types", "", 200, `{"version":1,"types":[` +
		kind("experiment", "Experiment", "40") + `,` + kind("kill-switch", "Kill switch", "null") + `,` + kind("release", "Release", "40") + `,` +
		kind("operational", "Operational", "7") + `,` + kind("permission", "Permission", "null") + `]}`})
}

func TestValidateFeature(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "taken", "archived")
	s.must(t, "DELETE", features+"/archived", "")
	const validate = "/api/admin/features/validate"
	s.run(t, []call{
		{"a new name", "POST", validate, `{"name":"new"}`, 200, ""},
		{"in a project", "POST", validate, `{"name":"new","projectId":"default"}`, 200, ""},
		{"projectId is null", "POST", validate, `{"name":"new","projectId":null}`, 200, ""},
		{"no flag was created", "GET", features + "/new", "", 404, notFound(`"new"`)},
		{"a taken name", "POST", validate, `{"name":"taken"}`, 409, failure("NameExistsError", `"taken"`)},
		{"the name of an archived flag", "POST", validate, `{"name":"archived"}`, 409, failure("NameExistsError", "archived")},
		{"an unknown project", "POST", validate, `{"name":"new","projectId":"nosuch"}`, 400, invalid("/projectId")},
		{"an unknown project and a taken name", "POST", validate, `{"name":"taken","projectId":"nosuch"}`, 400, invalid("/projectId")},
		{"a bad name", "POST", validate, `{"name":"a b"}`, 400, invalid("/name")},
		{"a bad project", "POST", validate, `{"name":"new","projectId":"a b"}`, 400, invalid("/projectId")},
		{"no name", "POST", validate, `{}`, 400, invalid("/name")},
		{"a name that is not a string", "POST", validate, `{"name":5}`, 400, invalid("/name")},
	})
}
