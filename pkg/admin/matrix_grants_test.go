package admin_test

import (
	"fmt"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
)

// TestRolesWithinOwnPermissions tries to obtain or to grant permissions that the caller does not hold, by roles, by access to
// projects, and by tokens. A refused request writes nothing.
func TestRolesWithinOwnPermissions(t *testing.T) {
	t.Parallel()
	s := serveTallied(t, time.Now())
	s.Must(t, "POST", "/api/admin/projects", `{"id":"shop"}`)
	const shop = "/api/admin/projects/shop"
	headers, id := map[string]string{}, map[string]string{}
	member := func(name, role string) {
		number, header := s.Person(t, access.RoleViewer)
		headers[name], id[name] = header, fmt.Sprint(number)
		if role != "" {
			s.Must(t, "POST", shop+"/users/"+id[name]+"/roles/"+role, "")
		}
	}
	const (
		accessWrite   = "PROJECT_USER_ACCESS_WRITE"
		inDevelopment = "UPDATE_FEATURE_ENVIRONMENT@development"
	)
	role := map[string]string{
		"Owner": "4", "Member": "5", "empty": s.RoleOf(t, "custom", ""), "all of it": s.RoleOf(t, "custom", "ADMIN"),
		"access": s.RoleOf(t, "custom", accessWrite), "update": s.RoleOf(t, "custom", "UPDATE_PROJECT"),
		"switch": s.RoleOf(t, "custom", "UPDATE_FEATURE_ENVIRONMENT"), "in development": s.RoleOf(t, "custom", inDevelopment),
		"in production": s.RoleOf(t, "custom", "UPDATE_FEATURE_ENVIRONMENT@production"),
		"in both":       s.RoleOf(t, "custom", inDevelopment+" UPDATE_FEATURE_ENVIRONMENT@production"),
		"service":       s.RoleOf(t, "custom", "CREATE_PROJECT"), "unknown": s.RoleOf(t, "custom", "PROJECT_SETTINGS_READ"),
	}
	member("owner", "4")
	member("member", "5")
	member("guest", "")
	member("update", role["update"])
	member("access", role["access"])
	member("all of it", role["all of it"])
	member("switch", s.RoleOf(t, "custom", accessWrite+" "+inDevelopment))
	member("deletes tokens", s.RoleOf(t, "custom", "DELETE_PROJECT_API_TOKEN"))
	member("reads tokens", s.RoleOf(t, "custom", "READ_PROJECT_API_TOKEN"))
	member("tokens in development", s.RoleOf(t, "custom", "CREATE_PROJECT_API_TOKEN@development"))
	number, header := s.Person(t, access.RoleEditor)
	headers["editor"], id["editor"] = header, fmt.Sprint(number)
	for _, header := range headers {
		s.Do(t, "GET", apitest.Project, "", header) // records the use of the token, which happens once an hour
	}
	at := func(user, name string) string { return shop + "/users/" + id[user] + "/roles/" + role[name] }
	set := func(user, name string) string {
		return fmt.Sprintf(`{"roles":[{"id":%s,"users":[%s]}]}`, role[name], id[user])
	}
	token := s.APIToken(t, `{"tokenName":"of-shop","type":"client","project":"shop"}`)
	const later = `{"expiresAt":"2090-01-01T00:00:00Z"}`

	for _, tt := range []struct {
		caller, method, path, body string
		status                     int
	}{
		// Roles in the project, for others and for the caller.
		{"owner", "POST", at("guest", "all of it"), "", 403},
		{"owner", "POST", at("guest", "service"), "", 403},
		{"owner", "POST", at("guest", "unknown"), "", 200}, // it grants nothing, and an owner can do everything here
		{"owner", "DELETE", at("guest", "unknown"), "", 200},
		{"owner", "POST", shop + "/users/" + id["guest"] + "/roles/1", "", 400}, // Admin is no project role
		{"owner", "POST", apitest.Project + "/users/" + id["owner"] + "/roles/5", "", 403},
		{"owner", "PUT", apitest.Project + "/access", set("owner", "Owner"), 403},
		{"editor", "POST", at("editor", "Member"), "", 403},
		{"editor", "PUT", shop + "/access", set("editor", "Owner"), 403},
		{"member", "POST", at("member", "Owner"), "", 403},
		{"member", "PUT", at("member", "Owner"), "", 403},
		{"member", "DELETE", at("owner", "Owner"), "", 403},
		{"access", "POST", at("access", "Owner"), "", 403},
		{"access", "PUT", at("access", "Owner"), "", 403},
		{"access", "PUT", shop + "/access", set("access", "Owner"), 403},
		{"access", "PUT", shop + "/access", set("guest", "Owner"), 403}, // a caller can keep a role that they cannot give
		{"access", "POST", at("access", "update"), "", 403},
		{"access", "POST", at("guest", "access"), "", 200},
		{"access", "DELETE", at("guest", "access"), "", 200},
		{"access", "POST", at("guest", "empty"), "", 200},
		{"access", "PUT", at("guest", "Member"), "", 403},
		{"access", "DELETE", at("guest", "empty"), "", 200},
		{"update", "POST", at("guest", "access"), "", 200}, // UPDATE_PROJECT includes it
		{"update", "DELETE", at("guest", "access"), "", 200},
		{"update", "POST", at("guest", "Member"), "", 403},
		{"update", "POST", at("guest", "switch"), "", 403},
		{"all of it", "POST", at("guest", "Owner"), "", 200}, // every permission of a project
		{"all of it", "DELETE", at("guest", "Owner"), "", 200},
		{"all of it", "POST", at("guest", "all of it"), "", 403},
		{"all of it", "POST", at("guest", "service"), "", 403},
		{"switch", "POST", at("guest", "in production"), "", 403},
		{"switch", "POST", at("guest", "in both"), "", 403},
		{"switch", "POST", at("guest", "switch"), "", 403},
		{"switch", "POST", at("switch", "switch"), "", 403},
		{"switch", "PUT", at("switch", "in both"), "", 403},
		{"switch", "POST", at("guest", "in development"), "", 200},
		{"switch", "DELETE", at("guest", "in development"), "", 200},

		// Roles, and root roles of users.
		{"owner", "POST", apitest.Roles, `{"name":"Mine","permissions":[{"name":"ADMIN"}]}`, 403},
		{"owner", "PUT", apitest.Roles + "/" + role["empty"], `{"name":"Mine"}`, 403},
		{"editor", "PUT", apitest.Roles + "/" + role["empty"], `{"name":"Mine"}`, 403},
		{"all of it", "POST", apitest.Roles, `{"name":"Mine"}`, 403},
		{"all of it", "PUT", apitest.Users + "/" + id["all of it"], `{"rootRole":1}`, 403},
		{"editor", "PUT", apitest.Users + "/" + id["editor"], `{"rootRole":1}`, 403},
		{"editor", "POST", apitest.Users, `{"username":"mine","rootRole":3}`, 403},
		{"editor", "POST", apitest.ServiceAccounts, `{"username":"mine","name":"x","rootRole":3}`, 403},
		{"editor", "POST", apitest.SignupTokens, `{"name":"n","expiresAt":"2100-01-01T00:00:00Z"}`, 403},

		// Tokens.
		{"editor", "POST", apitest.APITokens, `{"tokenName":"t1","type":"admin"}`, 403},
		{"editor", "POST", apitest.APITokens, `{"tokenName":"t1","type":"ADMIN","environment":"*"}`, 403},
		{"owner", "POST", apitest.APITokens, `{"tokenName":"t1","type":"client","projects":["shop","*"]}`, 403},
		{"owner", "POST", apitest.APITokens, `{"tokenName":"t1","type":"client","projects":["shop","nosuch"]}`, 403},
		{"all of it", "POST", apitest.APITokens, `{"tokenName":"t1","type":"admin"}`, 403},
		{"all of it", "POST", apitest.APITokens, `{"tokenName":"t1","type":"client"}`, 403},
		{"deletes tokens", "PUT", apitest.TokenPath(token), later, 403},
		{"deletes tokens", "GET", apitest.APITokens, "", 403},
		{"deletes tokens", "POST", apitest.APITokens, `{"tokenName":"t1","type":"client","project":"shop"}`, 403},
		{"reads tokens", "PUT", apitest.TokenPath(token), later, 403},
		{"reads tokens", "DELETE", apitest.TokenPath(token), "", 403},
		{"tokens in development", "POST", apitest.APITokens, `{"tokenName":"t1","type":"client","project":"shop","environment":"production"}`, 403},
		{"tokens in development", "POST", apitest.APITokens, `{"tokenName":"t1","type":"client","project":"shop","environment":"*"}`, 403},
		{"deletes tokens", "DELETE", apitest.TokenPath(token), "", 200},

		// The creator of a project owns that project, and no other.
		{"owner", "POST", "/api/admin/projects", `{"id":"mine"}`, 403},
		{"editor", "POST", "/api/admin/projects", `{"id":"mine"}`, 201},
		{"editor", "POST", "/api/admin/projects/mine/users/" + id["guest"] + "/roles/4", "", 200},
		{"guest", "DELETE", "/api/admin/projects/mine/users/" + id["editor"] + "/roles/4", "", 200},
		{"editor", "POST", "/api/admin/projects/mine/users/" + id["editor"] + "/roles/4", "", 403},
		{"editor", "PUT", shop, `{"name":"mine"}`, 403},
	} {
		name := fmt.Sprintf("%s: %s %s %s", tt.caller, tt.method, tt.path, tt.body)
		got := s.Do(t, tt.method, tt.path, tt.body, headers[tt.caller])
		if got.Status != tt.status {
			t.Errorf("%s: status %d, want %d; body %s", name, got.Status, tt.status, got.Body)
		}
		if n := writes(t, got); n > 0 && tt.status >= 400 {
			t.Errorf("%s: %d writes, want none", name, n)
		}
	}
}

// TestRoleOfRecreatedEnvironment checks that deleting an environment removes its permissions from roles. A new environment with
// the same name does not restore them.
func TestRoleOfRecreatedEnvironment(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	createStaging := func() {
		s.Must(t, "POST", "/api/admin/environments", `{"name":"staging","type":"test"}`)
		s.Must(t, "POST", apitest.Project+"/environments", `{"environment":"staging"}`)
		s.Must(t, "POST", apitest.In("f", "staging")+"/strategies", `{"name":"default"}`)
	}
	s.Create(t, "f")
	createStaging()
	role := s.RoleOf(t, "custom", "UPDATE_FEATURE_ENVIRONMENT@staging UPDATE_FEATURE")
	secret := apitest.As(s.Account(t, "3", map[string]string{"default": role}))
	s.Check(t, apitest.Call{"enable in the environment", "POST", apitest.In("f", "staging") + "/on", "", 200, apitest.Anything}, secret)
	s.Must(t, "POST", apitest.In("f", "staging")+"/off", "")
	s.Must(t, "DELETE", "/api/admin/environments/staging", "")
	s.Check(t, apitest.Call{"the role lost the permission", "GET", apitest.Roles + "/" + role, "", 200,
		`{"...":0,"permissions":[{"...":0,"name":"UPDATE_FEATURE"}]}`})
	createStaging()
	s.Check(t, apitest.Call{"enable in the new environment", "POST", apitest.In("f", "staging") + "/on", "", 403, apitest.Anything}, secret)
	s.Check(t, apitest.Call{"the role keeps other permissions", "PUT", apitest.Features + "/f", `{"stale":true}`, 200, apitest.Anything}, secret)
}
