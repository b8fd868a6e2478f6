package features_test

import (
	"fmt"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/admin"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

func TestFavorites(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f", "g", "archived")
	s.Must(t, "DELETE", apitest.Features+"/archived", "")
	s.Must(t, "POST", "/api/admin/projects", `{"id":"other"}`)
	ann, annsHeader := s.Person(t, access.RoleViewer)
	_, ben := s.Person(t, access.RoleViewer)
	another := "Authorization: " + s.AdminToken(t, time.Time{})
	favorite := func(is bool) string { return fmt.Sprintf(`{"...":0,"name":"f","favorite":%t}`, is) }
	list := func(is bool) string {
		return fmt.Sprintf(`{"...":0,"features":[{"...":0,"name":"f","favorite":%t},{"...":0,"name":"g","favorite":false}]}`, is)
	}
	const admin = "Authorization: " + dynamotest.AdminToken
	for _, tt := range []struct {
		apitest.Call
		caller string
	}{
		{apitest.Call{"a new flag", "GET", apitest.Features + "/f", "", 200, favorite(false)}, admin},
		{apitest.Call{"remove a favorite that does not exist", "DELETE", apitest.Features + "/f/favorites", "", 200, ""}, admin},
		{apitest.Call{"add a favorite", "POST", apitest.Features + "/f/favorites", "", 200, ""}, admin},
		{apitest.Call{"add it again", "POST", apitest.Features + "/f/favorites", "", 200, ""}, admin},
		{apitest.Call{"add it with a body, which is ignored", "POST", apitest.Features + "/f/favorites", "{}", 200, ""}, admin},
		{apitest.Call{"read the flag", "GET", apitest.Features + "/f", "", 200, favorite(true)}, admin},
		{apitest.Call{"list flags", "GET", apitest.Features, "", 200, list(true)}, admin},
		{apitest.Call{"read the project", "GET", apitest.Project, "", 200, list(true)}, admin},
		{apitest.Call{"the response to a change", "POST", apitest.In("f", "development") + "/off", "", 200, favorite(true)}, admin},
		{apitest.Call{"another token does not have it", "GET", apitest.Features + "/f", "", 200, favorite(false)}, another},
		{apitest.Call{"a user does not have it", "GET", apitest.Features, "", 200, list(false)}, annsHeader},
		{apitest.Call{"a viewer adds a favorite", "POST", apitest.Features + "/f/favorites", "", 200, ""}, annsHeader},
		{apitest.Call{"the viewer has it", "GET", apitest.Features, "", 200, list(true)}, annsHeader},
		{apitest.Call{"another user does not have it", "GET", apitest.Features, "", 200, list(false)}, ben},
		{apitest.Call{"one caller removes it", "DELETE", apitest.Features + "/f/favorites", "", 200, ""}, admin},
		{apitest.Call{"that caller no longer has it", "GET", apitest.Features + "/f", "", 200, favorite(false)}, admin},
		{apitest.Call{"the other caller keeps it", "GET", apitest.Features + "/f", "", 200, favorite(true)}, annsHeader},
		{apitest.Call{"rename the user", "PUT", fmt.Sprintf("/api/admin/user-admin/%d", ann), `{"name":"Ann","username":"another"}`, 200, apitest.Anything}, admin},
		{apitest.Call{"a renamed user keeps it", "GET", apitest.Features + "/f", "", 200, favorite(true)}, annsHeader},
		{apitest.Call{"clone the flag", "POST", apitest.Features + "/f/clone", `{"name":"clone"}`, 201, apitest.Anything}, admin},
		{apitest.Call{"a clone has no favorites", "GET", apitest.Features + "/clone", "", 200, `{"...":0,"favorite":false}`}, annsHeader},
	} {
		t.Run(tt.Name, func(t *testing.T) { s.Check(t, tt.Call, tt.caller) })
	}
	s.WantHistory(t, "f", flags.FeatureCreated)
}

// TestFavoritesWithoutTokens reads favorites from a service that requires no tokens.
func TestFavoritesWithoutTokens(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	s.Must(t, "POST", apitest.Features+"/f/favorites", "")
	for _, group := range admin.Groups() {
		if group.Name == "features" {
			open := httpapi.New(s.Store, group, httpapi.Config{Open: true, Limits: flags.DefaultLimits()})
			if got := apitest.Direct(open, "GET", apitest.Features+"/f", "").Body; len(apitest.Match(`{"...":0,"favorite":true}`, got)) > 0 {
				t.Errorf("read without a token: %s, want the favorites of the token named admin", got)
			}
		}
	}
}

func TestParallelFavorites(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	s.Must(t, "POST", apitest.In("f", "development")+"/strategies", `{"name":"default"}`)
	calls := []apitest.Call{
		{Method: "POST", Path: apitest.Features + "/f/favorites"},
		{Method: "POST", Path: apitest.In("f", "development") + "/on"},
		{Method: "PUT", Path: apitest.Features + "/f", Body: `{"stale":true}`},
		{Method: "POST", Path: "/api/admin/features/f/tags", Body: `{"type":"simple","value":"mine"}`},
	}
	s.WantParallel(t, map[int]int{200: 30, 201: 10}, 40, func(i int) apitest.Call { return calls[i%4] })
	s.Check(t, apitest.Call{"no change is lost", "GET", apitest.Features + "/f", "", 200, `{"...":0,"enabled":true,"stale":true,"favorite":true,"tags":[{"type":"simple","value":"mine"}]}`})
}

func TestFeatureTypes(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	kind := func(id, name, days string) string {
		return fmt.Sprintf(`{"id":%q,"name":%q,"description":"<has .>","lifetimeDays":%s}`, id, name, days)
	}
	s.Check(t, apitest.Call{"all", "GET", "/api/admin/feature-types", "", 200, `{"version":1,"types":[` +
		kind("experiment", "Experiment", "40") + `,` + kind("kill-switch", "Kill switch", "null") + `,` + kind("release", "Release", "40") + `,` +
		kind("operational", "Operational", "7") + `,` + kind("permission", "Permission", "null") + `]}`})
}

func TestValidateFeature(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "taken", "archived")
	s.Must(t, "DELETE", apitest.Features+"/archived", "")
	const validate = "/api/admin/features/validate"
	s.Run(t, []apitest.Call{
		{"a new name", "POST", validate, `{"name":"new"}`, 200, ""},
		{"in a project", "POST", validate, `{"name":"new","projectId":"default"}`, 200, ""},
		{"projectId is null", "POST", validate, `{"name":"new","projectId":null}`, 200, ""},
		{"no flag was created", "GET", apitest.Features + "/new", "", 404, apitest.NotFound(`"new"`)},
		{"a taken name", "POST", validate, `{"name":"taken"}`, 409, apitest.Failure("NameExistsError", `"taken"`)},
		{"the name of an archived flag", "POST", validate, `{"name":"archived"}`, 409, apitest.Failure("NameExistsError", "archived")},
		{"an unknown project", "POST", validate, `{"name":"new","projectId":"nosuch"}`, 400, apitest.Invalid("/projectId")},
		{"an unknown project and a taken name", "POST", validate, `{"name":"taken","projectId":"nosuch"}`, 400, apitest.Invalid("/projectId")},
		{"a bad name", "POST", validate, `{"name":"a b"}`, 400, apitest.Invalid("/name")},
		{"a bad project", "POST", validate, `{"name":"new","projectId":"a b"}`, 400, apitest.Invalid("/projectId")},
		{"no name", "POST", validate, `{}`, 400, apitest.Invalid("/name")},
		{"a name that is not a string", "POST", validate, `{"name":5}`, 400, apitest.Invalid("/name")},
	})
}
