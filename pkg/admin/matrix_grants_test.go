package admin_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
)

// TestRolesWithinOwnPermissions tries to obtain or to grant permissions that the caller does not hold, by roles, by access to
// projects, and by tokens. A refused request writes nothing. (TestGrantsWithinOwnPermissions and TestWhoMakesTokens have
// the simple cases.)
func TestRolesWithinOwnPermissions(t *testing.T) {
	t.Parallel()
	s := serveTallied(t, time.Now())
	s.must(t, "POST", "/api/admin/projects", aShop)
	const shop = "/api/admin/projects/shop"
	headers, id := map[string]string{}, map[string]string{}
	member := func(name, role string) {
		number, header := s.person(t, access.RoleViewer)
		headers[name], id[name] = header, fmt.Sprint(number)
		if role != "" {
			s.must(t, "POST", shop+"/users/"+id[name]+"/roles/"+role, "")
		}
	}
	const (
		accessWrite   = "PROJECT_USER_ACCESS_WRITE"
		inDevelopment = "UPDATE_FEATURE_ENVIRONMENT@development"
	)
	role := map[string]string{
		"Owner": "4", "Member": "5", "empty": s.roleOf(t, "custom", ""), "all of it": s.roleOf(t, "custom", "ADMIN"),
		"access": s.roleOf(t, "custom", accessWrite), "update": s.roleOf(t, "custom", "UPDATE_PROJECT"),
		"switch": s.roleOf(t, "custom", "UPDATE_FEATURE_ENVIRONMENT"), "in development": s.roleOf(t, "custom", inDevelopment),
		"in production": s.roleOf(t, "custom", "UPDATE_FEATURE_ENVIRONMENT@production"),
		"in both":       s.roleOf(t, "custom", inDevelopment+" UPDATE_FEATURE_ENVIRONMENT@production"),
		"service":       s.roleOf(t, "custom", "CREATE_PROJECT"), "unknown": s.roleOf(t, "custom", "PROJECT_SETTINGS_READ"),
	}
	member("owner", "4")
	member("member", "5")
	member("guest", "")
	member("update", role["update"])
	member("access", role["access"])
	member("all of it", role["all of it"])
	member("switch", s.roleOf(t, "custom", accessWrite+" "+inDevelopment))
	member("deletes tokens", s.roleOf(t, "custom", "DELETE_PROJECT_API_TOKEN"))
	member("reads tokens", s.roleOf(t, "custom", "READ_PROJECT_API_TOKEN"))
	member("tokens in development", s.roleOf(t, "custom", "CREATE_PROJECT_API_TOKEN@development"))
	number, header := s.person(t, access.RoleEditor)
	headers["editor"], id["editor"] = header, fmt.Sprint(number)
	for _, header := range headers {
		s.do(t, "GET", project, "", header) // records the use of the token, which happens once an hour
	}
	at := func(user, name string) string { return shop + "/users/" + id[user] + "/roles/" + role[name] }
	set := func(user, name string) string {
		return fmt.Sprintf(`{"roles":[{"id":%s,"users":[%s]}]}`, role[name], id[user])
	}
	token := s.apiToken(t, `{"tokenName":"of-shop","type":"client","project":"shop"}`)
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
		{"owner", "POST", project + "/users/" + id["owner"] + "/roles/5", "", 403},
		{"owner", "PUT", project + "/access", set("owner", "Owner"), 403},
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
		{"owner", "POST", roles, `{"name":"Mine","permissions":[{"name":"ADMIN"}]}`, 403},
		{"owner", "PUT", roles + "/" + role["empty"], `{"name":"Mine"}`, 403},
		{"editor", "PUT", roles + "/" + role["empty"], `{"name":"Mine"}`, 403},
		{"all of it", "POST", roles, `{"name":"Mine"}`, 403},
		{"all of it", "PUT", people + "/" + id["all of it"], `{"rootRole":1}`, 403},
		{"editor", "PUT", people + "/" + id["editor"], `{"rootRole":1}`, 403},
		{"editor", "POST", people, `{"username":"mine","rootRole":3}`, 403},
		{"editor", "POST", programs, `{"username":"mine","name":"x","rootRole":3}`, 403},
		{"editor", "POST", signups, `{"name":"n","expiresAt":"2100-01-01T00:00:00Z"}`, 403},

		// Tokens.
		{"editor", "POST", apiTokens, `{"tokenName":"t1","type":"admin"}`, 403},
		{"editor", "POST", apiTokens, `{"tokenName":"t1","type":"ADMIN","environment":"*"}`, 403},
		{"owner", "POST", apiTokens, `{"tokenName":"t1","type":"client","projects":["shop","*"]}`, 403},
		{"owner", "POST", apiTokens, `{"tokenName":"t1","type":"client","projects":["shop","nosuch"]}`, 403},
		{"all of it", "POST", apiTokens, `{"tokenName":"t1","type":"admin"}`, 403},
		{"all of it", "POST", apiTokens, `{"tokenName":"t1","type":"client"}`, 403},
		{"deletes tokens", "PUT", tokenPath(token), later, 403},
		{"deletes tokens", "GET", apiTokens, "", 403},
		{"deletes tokens", "POST", apiTokens, `{"tokenName":"t1","type":"client","project":"shop"}`, 403},
		{"reads tokens", "PUT", tokenPath(token), later, 403},
		{"reads tokens", "DELETE", tokenPath(token), "", 403},
		{"tokens in development", "POST", apiTokens, `{"tokenName":"t1","type":"client","project":"shop","environment":"production"}`, 403},
		{"tokens in development", "POST", apiTokens, `{"tokenName":"t1","type":"client","project":"shop","environment":"*"}`, 403},
		{"deletes tokens", "DELETE", tokenPath(token), "", 200},

		// The creator of a project owns that project, and no other.
		{"owner", "POST", "/api/admin/projects", `{"id":"mine"}`, 403},
		{"editor", "POST", "/api/admin/projects", `{"id":"mine"}`, 201},
		{"editor", "POST", "/api/admin/projects/mine/users/" + id["guest"] + "/roles/4", "", 200},
		{"guest", "DELETE", "/api/admin/projects/mine/users/" + id["editor"] + "/roles/4", "", 200},
		{"editor", "POST", "/api/admin/projects/mine/users/" + id["editor"] + "/roles/4", "", 403},
		{"editor", "PUT", shop, `{"name":"mine"}`, 403},
	} {
		name := fmt.Sprintf("%s: %s %s %s", tt.caller, tt.method, tt.path, tt.body)
		got := s.do(t, tt.method, tt.path, tt.body, headers[tt.caller])
		if got.status != tt.status {
			t.Errorf("%s: status %d, want %d; body %s", name, got.status, tt.status, got.body)
		}
		if n := got.writes(t); n > 0 && tt.status >= 400 {
			t.Errorf("%s: %d writes, want none", name, n)
		}
	}
}

// TestSetAccessByLeavingUser lets an owner replace themselves by more members than fit into one transaction. The caller is
// removed in the last transaction. Otherwise the remaining transactions would be refused.
func TestSetAccessByLeavingUser(t *testing.T) {
	t.Parallel()
	s := serve(t)
	id, header := s.person(t, access.RoleViewer)
	s.must(t, "POST", fmt.Sprintf("%s/users/%d/roles/4", project, id), "")
	var members []string
	for range 60 {
		member, _ := s.person(t, access.RoleViewer)
		members = append(members, fmt.Sprint(member))
	}
	body := fmt.Sprintf(`{"roles":[{"id":4,"users":[%s]}]}`, strings.Join(members, ","))
	s.check(t, call{"replace the members", "PUT", accessPath, body, 200, ""}, header)
	s.check(t, call{"the caller is not a member", "GET", project, "", 200, `{"...":0,"members":60}`})
	s.check(t, call{"the caller has no permission", "PUT", accessPath, body, 403, anything}, header)
}

// TestRoleOfRecreatedEnvironment checks that deleting an environment removes its permissions from roles. A new environment with
// the same name does not restore them.
func TestRoleOfRecreatedEnvironment(t *testing.T) {
	t.Parallel()
	s := serve(t)
	createStaging := func() {
		s.must(t, "POST", "/api/admin/environments", `{"name":"staging","type":"test"}`)
		s.must(t, "POST", project+"/environments", `{"environment":"staging"}`)
		s.must(t, "POST", in("f", "staging")+"/strategies", `{"name":"default"}`)
	}
	s.create(t, "f")
	createStaging()
	role := s.roleOf(t, "custom", "UPDATE_FEATURE_ENVIRONMENT@staging UPDATE_FEATURE")
	secret := as(s.account(t, "3", map[string]string{"default": role}))
	s.check(t, call{"enable in the environment", "POST", in("f", "staging") + "/on", "", 200, anything}, secret)
	s.must(t, "POST", in("f", "staging")+"/off", "")
	s.must(t, "DELETE", "/api/admin/environments/staging", "")
	s.check(t, call{"the role lost the permission", "GET", roles + "/" + role, "", 200,
		`{"...":0,"permissions":[{"...":0,"name":"UPDATE_FEATURE"}]}`})
	createStaging()
	s.check(t, call{"enable in the new environment", "POST", in("f", "staging") + "/on", "", 403, anything}, secret)
	s.check(t, call{"the role keeps other permissions", "PUT", features + "/f", `{"stale":true}`, 200, anything}, secret)
}
