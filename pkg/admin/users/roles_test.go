package users_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"guidon/pkg/access"
	"guidon/pkg/admin"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

func TestRoles(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	builtIn := `{"id":1,"type":"root","name":"Admin","description":"<any>"},{"id":2,"type":"root","name":"Editor","description":"<any>"},` +
		`{"id":3,"type":"root","name":"Viewer","description":"<any>"},{"id":4,"type":"project","name":"Owner","description":"<any>"},` +
		`{"id":5,"type":"project","name":"Member","description":"<any>"}`
	const (
		archive = `{"id":"<any>","name":"DELETE_FEATURE","displayName":"<any>","type":"project"}`
		inDev   = `{"id":"<any>","name":"UPDATE_FEATURE_ENVIRONMENT","displayName":"<any>","type":"environment","environment":"development"}`
		inAll   = `{"id":"<any>","name":"UPDATE_FEATURE_ENVIRONMENT","displayName":"<any>","type":"environment"}`
		other   = `{"id":0,"name":"UPDATE_CORS","displayName":"Change the origins that may call the frontend API (not in Guidon; grants nothing)","type":"project"}`
	)
	six := func(name, description, permissions string) string {
		return fmt.Sprintf(`{"id":6,"type":"custom","name":%q,"description":%q,"permissions":[%s]}`, name, description, permissions)
	}
	one := func(role string) string { return `{"version":1,"roles":` + role + `}` }
	builtInRole := apitest.Faulty("built in and cannot be changed")
	s.Run(t, []apitest.Call{
		{"the built-in roles", "GET", apitest.Roles, "", 200, `{"version":1,"roles":[` + builtIn + `]}`},
		{"an administrator has all permissions", "GET", apitest.Roles + "/1", "", 200, `{"...":0,"permissions":[{"id":1,"name":"ADMIN","displayName":"<any>","type":"root"}]}`},
		{"a viewer has no additional permissions", "GET", apitest.Roles + "/3", "", 200, `{"...":0,"permissions":[]}`},
		{"create", "POST", apitest.Roles, `{"name":"Half","description":"d","permissions":[{"name":"DELETE_FEATURE"},` +
			`{"name":"UPDATE_FEATURE_ENVIRONMENT","environment":"development"},{"id":7,"name":"DELETE_FEATURE","environment":null},{"name":"UPDATE_CORS","environment":""}]}`,
			200, one(six("Half", "d", archive+","+inDev+","+other))},
		{"read", "GET", apitest.Roles + "/6", "", 200, six("Half", "d", archive+","+inDev+","+other)},
		{"in the list", "GET", apitest.Roles, "", 200, `{"version":1,"roles":[` + builtIn + `,{"id":6,"type":"custom","name":"Half","description":"d"}]}`},
		{"a custom root role", "POST", apitest.Roles, `{"name":"Librarian","type":"root-custom","permissions":[{"name":"UPDATE_TAG_TYPE"}]}`, 200,
			one(`{"id":7,"type":"root-custom","name":"Librarian","description":"","permissions":[{"id":"<any>","name":"UPDATE_TAG_TYPE","displayName":"<any>","type":"root"}]}`)},

		{"a taken name", "POST", apitest.Roles, `{"name":"Half"}`, 409, apitest.Failure("NameExistsError", "Half")},
		{"the name of a built-in role", "POST", apitest.Roles, `{"name":"Owner"}`, 409, apitest.Failure("NameExistsError", "Owner")},
		{"no name", "POST", apitest.Roles, `{}`, 400, apitest.Faulty("/name: is required")},
		{"a blank name", "POST", apitest.Roles, `{"name":" "}`, 400, apitest.Faulty("/name: is required")},
		{"a built-in type", "POST", apitest.Roles, `{"name":"x","type":"root"}`, 400, apitest.Faulty("/type: must be root-custom or custom")},
		{"an unknown type", "POST", apitest.Roles, `{"name":"x","type":"x"}`, 400, apitest.Faulty("/type")},
		{"an invalid permission", "POST", apitest.Roles, `{"name":"x","permissions":[{"name":"UPDATE_FEATURE"},{"name":"update feature"}]}`, 400, apitest.Faulty(`/permissions/1/name: there is no permission`)},
		{"a permission that does not exist", "POST", apitest.Roles, `{"name":"x","permissions":[{"name":"FLY"}]}`, 400, apitest.Faulty(`there is no permission "FLY". GET /api/admin/permissions lists all`)},
		{"a permission with a mistake", "POST", apitest.Roles, `{"name":"x","permissions":[{"name":"READ_ROLES"}]}`, 400, apitest.Faulty(`there is no permission "READ_ROLES"; did you mean READ_ROLE? GET`)},
		{"a short name like no other", "POST", apitest.Roles, `{"name":"x","permissions":[{"name":"FOO"}]}`, 400, apitest.Faulty(`there is no permission "FOO". GET`)},
		{"a misspelled permission", "POST", apitest.Roles, `{"name":"x","permissions":[{"name":"UPDATE_FEATURES"}]}`, 400, apitest.Faulty("did you mean UPDATE_FEATURE?")},
		{"a space at the end", "POST", apitest.Roles, `{"name":"Half "}`, 400, apitest.Faulty("/name: must not begin or end with white space")},
		{"a zero-width character", "POST", apitest.Roles, `{"name":"Ha\u200blf"}`, 400, apitest.Faulty("/name: must not contain control characters, zero-width characters")},
		{"a filler character", "POST", apitest.Roles, `{"name":"Ha\u3164lf"}`, 400, apitest.Faulty("/name: must not contain control characters, zero-width characters")},
		{"change to a zero-width character", "PUT", apitest.Roles + "/6", `{"name":"Half\ufeff"}`, 400, apitest.Faulty("/name")},
		{"a permission without a name", "POST", apitest.Roles, `{"name":"x","permissions":[{"id":2}]}`, 400, apitest.Faulty("/permissions/0/name: is required")},
		{"an unknown environment", "POST", apitest.Roles, `{"name":"x","permissions":[{"name":"UPDATE_FEATURE_ENVIRONMENT","environment":"nosuch"}]}`, 400, apitest.Faulty(`/permissions/0/environment: there is no environment "nosuch"`)},
		{"permissions of the wrong type", "POST", apitest.Roles, `{"name":"x","permissions":["UPDATE_FEATURE"]}`, 400, apitest.Faulty("/permissions/0: must be an object")},

		{"change the permissions", "PUT", apitest.Roles + "/6", `{"name":"Half","permissions":[{"name":"UPDATE_FEATURE_ENVIRONMENT"}]}`, 200, one(six("Half", "d", inAll))},
		{"change only the name", "PUT", apitest.Roles + "/6", `{"name":"Half and half"}`, 200, one(six("Half and half", "d", inAll))},
		{"remove the description", "PUT", apitest.Roles + "/6", `{"name":"Half","description":null,"type":"custom"}`, 200, one(six("Half", "", inAll))},
		{"change the type", "PUT", apitest.Roles + "/6", `{"name":"Half","type":"root-custom"}`, 400, apitest.Faulty("/type: cannot be changed from custom")},
		{"change to a taken name", "PUT", apitest.Roles + "/6", `{"name":"Librarian"}`, 409, apitest.Failure("NameExistsError", "Librarian")},
		{"change to an unknown environment", "PUT", apitest.Roles + "/6", `{"name":"Half","permissions":[{"name":"UPDATE_FEATURE","environment":"x"}]}`, 400, apitest.Faulty("environment")},
		{"change without a name", "PUT", apitest.Roles + "/6", `{"description":"x"}`, 400, apitest.Faulty("/name: is required")},
		{"change a built-in role", "PUT", apitest.Roles + "/4", `{"name":"Boss"}`, 400, builtInRole},
		{"read an id that is not a number", "GET", apitest.Roles + "/Owner", "", 400, apitest.Faulty("roleId in the path must be a whole number")},

		{"a user with the role", "POST", apitest.Users, `{"username":"u","rootRole":"Librarian"}`, 201, `{"...":0,"id":2,"rootRole":7}`},
		{"delete it while a user has it", "DELETE", apitest.Roles + "/7", "", 409, apitest.Failure("ConflictError", "by user 2")},
		{"the user gets another role", "PUT", apitest.Users + "/2", `{"rootRole":3}`, 200, apitest.Anything},
		{"delete it", "DELETE", apitest.Roles + "/7", "", 200, ""},
		{"a member with the role", "POST", apitest.Project + "/users/2/roles/6", "", 200, ""},
		{"delete it while a member has it", "DELETE", apitest.Roles + "/6", "", 409, apitest.Failure("ConflictError", `in project "default"`)},
		{"remove the member", "DELETE", apitest.Project + "/users/2/roles/6", "", 200, ""},
		{"delete the other role", "DELETE", apitest.Roles + "/6", "", 200, ""},
		{"delete it again", "DELETE", apitest.Roles + "/6", "", 404, apitest.NotFound("no role 6")},
		{"delete a built-in role", "DELETE", apitest.Roles + "/5", "", 400, builtInRole},
		{"ids are not used again", "POST", apitest.Roles, `{"name":"Half"}`, 200, `{"...":0,"roles":{"...":0,"id":8}}`},
	})
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	got := apitest.Decode[struct {
		Version     int
		Permissions struct {
			Root, Project []struct{ Name, Type string }
			Environments  []struct {
				Name        string
				Permissions []struct{ Name, Type, Environment string }
			}
		}
	}](t, s.Must(t, "GET", "/api/admin/permissions", "").Body)
	p := got.Permissions
	if got.Version != 1 || len(p.Root) == 0 || len(p.Project) == 0 || len(p.Environments) != 3 {
		t.Fatalf("version %d with %d, %d, %d permissions, want version 1, root permissions, project permissions and three environments", got.Version, len(p.Root), len(p.Project), len(p.Environments))
	}
	if p.Root[0].Name != "ADMIN" || p.Root[0].Type != "root" || p.Project[0].Type != "project" {
		t.Errorf("the first permissions are %v and %v, want ADMIN of type root, and one of type project", p.Root[0], p.Project[0])
	}
	for i, name := range []string{"default", "development", "production"} { // in sort order
		if env := p.Environments[i]; env.Name != name || len(env.Permissions) != 9 || env.Permissions[0].Environment != name || env.Permissions[0].Type != "environment" {
			t.Errorf("environment %d is %v, want %s with nine permissions", i, env, name)
		}
	}
}

// TestParallelRoles creates many roles in parallel, two with each name. One of the two is created, with a unique id.
func TestParallelRoles(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.WantParallel(t, map[int]int{200: 10, 409: 10}, 20, func(i int) apitest.Call {
		return apitest.Call{Method: "POST", Path: apitest.Roles, Body: fmt.Sprintf(`{"name":"r%d"}`, i/2)}
	})
	ids := map[int]string{}
	for _, r := range apitest.Decode[struct {
		Roles []struct {
			ID   int
			Name string
		}
	}](t, s.Must(t, "GET", apitest.Roles, "").Body).Roles {
		ids[r.ID] = r.Name
	}
	if len(ids) != 15 {
		t.Errorf("%d roles %v, want 15", len(ids), ids)
	}
	if events := s.EventsOf(t, &access.Roles{}); len(events) != 11 {
		t.Errorf("events %v, want one of the seed and ten others", events)
	}
}

// A racing store calls a function before the next commit.
type racing struct {
	httpapi.Store
	once *sync.Once
	then func()
}

func (r racing) Commit(ctx context.Context, change flags.Change) error {
	r.once.Do(r.then)
	return r.Store.Commit(ctx, change)
}

// TestRoleOfDeletedEnvironment grants a permission in an environment that is deleted just before the commit. The role is
// rejected, and no role has a permission in a new environment with the same name.
func TestRoleOfDeletedEnvironment(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	id := s.ID(t, apitest.Roles, `{"name":"kept","type":"custom","permissions":[]}`)
	inQA := `"permissions":[{"name":"UPDATE_FEATURE_ENVIRONMENT","environment":"qa"}]`
	for _, c := range []apitest.Call{
		{"a new role", "POST", apitest.Roles, `{"name":"new","type":"custom",` + inQA + `}`, 400, ""},
		{"an existing role", "PUT", apitest.Roles + "/" + id, `{"name":"kept","type":"custom",` + inQA + `}`, 400, ""},
	} {
		t.Run(c.Name, func(t *testing.T) {
			s.Must(t, "POST", apitest.Environments, `{"name":"qa","type":"test"}`)
			store := racing{s.Store, &sync.Once{}, func() { s.Must(t, "DELETE", apitest.Environments+"/qa", "") }}
			handler := httpapi.New(store, admin.Group("users"), httpapi.Config{Limits: flags.DefaultLimits(), Sealer: dynamotest.Sealer})
			if got := apitest.DirectIn(t.Context(), handler, c.Method, c.Path, c.Body); got.Status != c.Status {
				t.Errorf("%d %s, want %d: the environment is deleted", got.Status, got.Body, c.Status)
			}
			s.Must(t, "POST", apitest.Environments, `{"name":"qa","type":"test"}`)
			if all := s.Must(t, "GET", apitest.Roles, "").Body; strings.Contains(all, `"new"`) {
				t.Errorf("%s: the role was created", all)
			}
			if one := s.Must(t, "GET", apitest.Roles+"/"+id, "").Body; strings.Contains(one, "UPDATE_FEATURE_ENVIRONMENT") {
				t.Errorf("%s has a permission in an environment that was created later", one)
			}
			s.Must(t, "DELETE", apitest.Environments+"/qa", "")
		})
	}
}
