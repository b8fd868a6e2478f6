package admin_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"guidon/pkg/access"
	"guidon/pkg/apitest"
	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// permissionsOf has the permissions of each scope. It is independent of the code, so that the matrix finds changes. Every account has
// READ. ADMIN includes all permissions.
var permissionsOf = map[access.Scope]string{
	access.RootScope: "ADMIN CREATE_PROJECT CREATE_ENVIRONMENT UPDATE_ENVIRONMENT DELETE_ENVIRONMENT CREATE_STRATEGY UPDATE_STRATEGY " +
		"DELETE_STRATEGY CREATE_TAG_TYPE UPDATE_TAG_TYPE DELETE_TAG_TYPE CREATE_CONTEXT_FIELD UPDATE_CONTEXT_FIELD DELETE_CONTEXT_FIELD " +
		"CREATE_SEGMENT UPDATE_SEGMENT DELETE_SEGMENT READ_ROLE READ_CLIENT_API_TOKEN CREATE_CLIENT_API_TOKEN " +
		"UPDATE_CLIENT_API_TOKEN DELETE_CLIENT_API_TOKEN READ_FRONTEND_API_TOKEN CREATE_FRONTEND_API_TOKEN " +
		"UPDATE_FRONTEND_API_TOKEN DELETE_FRONTEND_API_TOKEN UPDATE_APPLICATION CREATE_ADDON UPDATE_ADDON DELETE_ADDON " +
		"RELEASE_PLAN_TEMPLATE_CREATE RELEASE_PLAN_TEMPLATE_UPDATE RELEASE_PLAN_TEMPLATE_DELETE",
	access.ProjectScope: "UPDATE_PROJECT DELETE_PROJECT PROJECT_USER_ACCESS_READ PROJECT_USER_ACCESS_WRITE CREATE_FEATURE UPDATE_FEATURE " +
		"DELETE_FEATURE MOVE_FEATURE_TOGGLE UPDATE_FEATURE_DEPENDENCY READ_PROJECT_API_TOKEN CREATE_PROJECT_API_TOKEN DELETE_PROJECT_API_TOKEN UPDATE_PROJECT_SEGMENT " +
		"PROJECT_CHANGE_REQUEST_READ PROJECT_CHANGE_REQUEST_WRITE",
	access.EnvironmentScope: "UPDATE_FEATURE_ENVIRONMENT UPDATE_FEATURE_ENVIRONMENT_VARIANTS CREATE_FEATURE_STRATEGY " +
		"UPDATE_FEATURE_STRATEGY DELETE_FEATURE_STRATEGY APPROVE_CHANGE_REQUEST APPLY_CHANGE_REQUEST SKIP_CHANGE_REQUEST SKIP_CHANGE_FREEZE",
}

// What the built-in roles hold.
const (
	editorHolds = "CREATE_PROJECT CREATE_STRATEGY UPDATE_STRATEGY DELETE_STRATEGY CREATE_TAG_TYPE UPDATE_TAG_TYPE DELETE_TAG_TYPE " +
		"CREATE_CONTEXT_FIELD UPDATE_CONTEXT_FIELD DELETE_CONTEXT_FIELD CREATE_SEGMENT UPDATE_SEGMENT DELETE_SEGMENT " +
		"READ_CLIENT_API_TOKEN CREATE_CLIENT_API_TOKEN UPDATE_CLIENT_API_TOKEN DELETE_CLIENT_API_TOKEN READ_FRONTEND_API_TOKEN " +
		"CREATE_FRONTEND_API_TOKEN UPDATE_FRONTEND_API_TOKEN DELETE_FRONTEND_API_TOKEN UPDATE_APPLICATION CREATE_ADDON UPDATE_ADDON DELETE_ADDON " +
		"RELEASE_PLAN_TEMPLATE_CREATE RELEASE_PLAN_TEMPLATE_UPDATE RELEASE_PLAN_TEMPLATE_DELETE"
	ownerHolds = "UPDATE_PROJECT DELETE_PROJECT PROJECT_USER_ACCESS_READ PROJECT_USER_ACCESS_WRITE CREATE_FEATURE UPDATE_FEATURE " +
		"DELETE_FEATURE MOVE_FEATURE_TOGGLE UPDATE_FEATURE_DEPENDENCY READ_PROJECT_API_TOKEN CREATE_PROJECT_API_TOKEN DELETE_PROJECT_API_TOKEN UPDATE_PROJECT_SEGMENT UPDATE_FEATURE_ENVIRONMENT " +
		"PROJECT_CHANGE_REQUEST_READ PROJECT_CHANGE_REQUEST_WRITE " +
		"UPDATE_FEATURE_ENVIRONMENT_VARIANTS CREATE_FEATURE_STRATEGY UPDATE_FEATURE_STRATEGY DELETE_FEATURE_STRATEGY"
	memberHolds = "CREATE_FEATURE UPDATE_FEATURE DELETE_FEATURE UPDATE_FEATURE_DEPENDENCY UPDATE_FEATURE_ENVIRONMENT UPDATE_FEATURE_ENVIRONMENT_VARIANTS " +
		"CREATE_FEATURE_STRATEGY UPDATE_FEATURE_STRATEGY DELETE_FEATURE_STRATEGY"
)

// A holder is a caller with its permissions.
type holder struct {
	name    string
	secret  string
	open    bool // calls a server with AUTH_TYPE=none
	refused int  // the status of every response; 0 if it depends on the operation
	person  bool // uses a personal token, of a user or a service account

	// holds has the permissions by project; "" is the whole service. A permission is PERMISSION, or PERMISSION@environment.
	holds map[string]string
}

// has reports whether the holder has a permission in a project and an environment. The environment "" means all of them.
func (h holder) has(permission, project, environment string) bool {
	places := []string{""}
	if project != "" && !slices.Contains(strings.Fields(permissionsOf[access.RootScope]), permission) {
		places = append(places, project)
	}
	for _, place := range places {
		for _, held := range strings.Fields(h.holds[place]) {
			name, only, _ := strings.Cut(held, "@")
			gives := name == permission || name == "ADMIN" ||
				name == "UPDATE_PROJECT" && (strings.HasPrefix(permission, "PROJECT_USER_ACCESS_") || strings.HasPrefix(permission, "PROJECT_CHANGE_REQUEST_"))
			if gives && (only == "" || only == environment) {
				return true
			}
		}
	}
	return false
}

// TestPermissionsAreDocumented checks that the tables above have every permission. A new permission belongs there, and in the
// built-in roles that hold it.
func TestPermissionsAreDocumented(t *testing.T) {
	t.Parallel()
	for scope, names := range permissionsOf {
		var got []string
		for _, info := range access.Permissions(scope) {
			got = append(got, string(info.Name))
		}
		if want := strings.Fields(names); !slices.Equal(got, want) {
			t.Errorf("scope %d: permissions %q, want %q", scope, got, want)
		}
	}
	built := map[int64]string{access.RoleAdmin: "ADMIN", access.RoleEditor: editorHolds, access.RoleOwner: ownerHolds, access.RoleMember: memberHolds}
	for _, role := range (&access.Roles{}).List() {
		got := map[string]bool{}
		for _, g := range role.Permissions {
			got[string(g.Permission)] = true
		}
		want := map[string]bool{}
		for _, name := range strings.Fields(built[role.ID]) {
			want[name] = true
		}
		if !maps.Equal(got, want) {
			t.Errorf("role %s holds %v, want %v", role.Name, got, want)
		}
	}
}

// holders returns the callers of the matrix. They hold their permissions in the project "alpha" and none in "default", except
// for editors, who own "default".
func holders(t *testing.T, s *apitest.Server, now time.Time) []holder {
	t.Helper()
	all := holdersOfAPITokens(t, s, now)
	all = append(all, holdersWithoutAccount(t, s)...)

	person := func(name string, root int64, holds map[string]string) (holder, string) {
		id, header := s.Person(t, root)
		h := holder{name: name, secret: strings.TrimPrefix(header, "Authorization: "), person: true, holds: holds}
		return h, fmt.Sprint(id)
	}
	add := func(name string, root int64, holds map[string]string, roles ...string) {
		h, id := person(name, root, holds)
		for _, at := range roles {
			project, role, _ := strings.Cut(at, " ")
			s.Must(t, "POST", "/api/admin/projects/"+project+"/users/"+id+"/roles/"+role, "")
		}
		all = append(all, h)
	}
	const alpha, preset = "alpha", "default"
	add("Admin", access.RoleAdmin, map[string]string{"": "ADMIN"})
	add("Editor", access.RoleEditor, map[string]string{"": editorHolds, preset: ownerHolds})
	add("Viewer", access.RoleViewer, nil)
	add("Owner", access.RoleViewer, map[string]string{alpha: ownerHolds}, "alpha 4")
	add("Member", access.RoleViewer, map[string]string{alpha: memberHolds}, "alpha 5")
	add("Owner of one, Member of the other", access.RoleViewer, map[string]string{alpha: ownerHolds, preset: memberHolds}, "alpha 4", "default 5")
	add("Editor and Member", access.RoleEditor, map[string]string{"": editorHolds, preset: ownerHolds, alpha: memberHolds}, "alpha 5")

	custom := func(holds string) string { return "alpha " + s.RoleOf(t, "custom", holds) }
	root := func(holds string) int64 {
		var id int64
		_, _ = fmt.Sscan(s.RoleOf(t, "root-custom", holds), &id)
		return id
	}
	const switches, inDevelopment = "UPDATE_FEATURE_ENVIRONMENT", "UPDATE_FEATURE_ENVIRONMENT@development"
	add("a project role to enable in development", access.RoleViewer, map[string]string{alpha: inDevelopment}, custom(inDevelopment))
	add("a project role of ADMIN", access.RoleViewer, map[string]string{alpha: "ADMIN"}, custom("ADMIN"))
	add("a project role with root permissions", access.RoleViewer, nil, custom("CREATE_PROJECT READ_ROLE CREATE_CLIENT_API_TOKEN"))
	add("a project role with an unknown permission", access.RoleViewer, nil, custom("UPDATE_MAINTENANCE_MODE"))
	add("a root role of ADMIN", root("ADMIN"), map[string]string{"": "ADMIN"})
	add("a root role without permissions", root(""), nil)
	add("a root role to enable in all environments", root(switches), map[string]string{"": switches})
	add("a root role to enable in development", root(inDevelopment), map[string]string{"": inDevelopment})
	add("a root role with project permissions", root("UPDATE_FEATURE UPDATE_PROJECT READ_PROJECT_API_TOKEN"),
		map[string]string{"": "UPDATE_FEATURE UPDATE_PROJECT READ_PROJECT_API_TOKEN"})

	// Each permission on its own, held by a service account.
	account := func(name, rootRole string, held map[string]string, holds map[string]string) {
		all = append(all, holder{name: name, secret: s.Account(t, rootRole, held), person: true, holds: holds})
	}
	for scope, names := range permissionsOf {
		for _, name := range strings.Fields(names) {
			if scope == access.RootScope {
				account(name, s.RoleOf(t, "root-custom", name), nil, map[string]string{"": name})
				continue
			}
			account(name, "3", map[string]string{alpha: s.RoleOf(t, "custom", name)}, map[string]string{alpha: name})
			if scope == access.EnvironmentScope {
				there := name + "@production"
				account(there, "3", map[string]string{alpha: s.RoleOf(t, "custom", there)}, map[string]string{alpha: there})
			}
		}
	}
	account("a service account that is an Editor", "2", nil, map[string]string{"": editorHolds, preset: ownerHolds})
	account("a service account that is an Owner", "3", map[string]string{alpha: "4"}, map[string]string{alpha: ownerHolds})
	return all
}

// holdersOfAPITokens returns the callers with an API token, or without a token.
func holdersOfAPITokens(t *testing.T, s *apitest.Server, now time.Time) []holder {
	t.Helper()
	deleted := s.APIToken(t, `{"tokenName":"deleted","type":"admin"}`)
	s.Must(t, "DELETE", apitest.TokenPath(deleted), "")
	everything := map[string]string{"": "ADMIN"}
	return []holder{
		{name: "no token", refused: 401},
		{name: "an unknown token", secret: "*:*.nosuch", refused: 401},
		{name: "an expired token", secret: s.AdminToken(t, now), refused: 401},
		{name: "a deleted token", secret: deleted, refused: 401},
		{name: "a public signup token", secret: apitest.SecretIn(s.Must(t, "POST", apitest.SignupTokens, `{"name":"n","expiresAt":"2100-01-01T00:00:00Z"}`).Body), refused: 401},
		{name: "a client token", secret: dynamotest.ClientToken, refused: 403},
		{name: "a client token for all environments", secret: s.APIToken(t, `{"tokenName":"c","type":"client","environment":"*"}`), refused: 403},
		{name: "a frontend token", secret: dynamotest.FrontendToken, refused: 403},
		{name: "an admin token", secret: dynamotest.AdminToken, holds: everything},
		{name: "no token, with AUTH_TYPE=none", open: true, holds: everything},
		{name: "a client token, with AUTH_TYPE=none", open: true, secret: dynamotest.ClientToken, holds: everything},
	}
}

// holdersWithoutAccount returns callers whose account, role or token was deleted.
func holdersWithoutAccount(t *testing.T, s *apitest.Server) []holder {
	t.Helper()
	none := func(name string, root int64, refused int, then func(id string)) holder {
		id, header := s.Person(t, root)
		then(fmt.Sprint(id))
		return holder{name: name, secret: strings.TrimPrefix(header, "Authorization: "), refused: refused, person: true}
	}
	owning := func(id string) { s.Must(t, "POST", "/api/admin/projects/alpha/users/"+id+"/roles/4", "") }
	program := s.ID(t, apitest.ServiceAccounts, `{"username":"gone","name":"Gone","rootRole":1}`)
	secret := apitest.SecretIn(s.Must(t, "POST", apitest.ServiceAccounts+"/"+program+"/token", `{"description":"d","expiresAt":"2100-01-01T00:00:00Z"}`).Body)
	s.Must(t, "DELETE", apitest.ServiceAccounts+"/"+program, "")
	return []holder{
		none("a deleted administrator", access.RoleAdmin, 401, func(id string) { s.Must(t, "DELETE", apitest.Users+"/"+id, "") }),
		none("a deleted owner", access.RoleViewer, 401, func(id string) { owning(id); s.Must(t, "DELETE", apitest.Users+"/"+id, "") }),
		{name: "a deleted service account", secret: secret, refused: 401},
		none("a deleted root role", 9999, 403, func(string) {}),
		none("a deleted root role, and Owner", 9999, 403, owning),
		none("a deleted project role", access.RoleViewer, 0, func(id string) { giveDeletedRole(t, s, id) }),
		formerToken(t, s),
	}
}

// formerToken is a deleted personal token of an existing user.
func formerToken(t *testing.T, s *apitest.Server) holder {
	t.Helper()
	_, header := s.Person(t, access.RoleAdmin)
	s.Check(t, apitest.Call{"delete it", "DELETE", apitest.OwnTokens + "/1", "", 200, ""}, header)
	return holder{name: "a deleted personal token", secret: strings.TrimPrefix(header, "Authorization: "), refused: 401}
}

// giveDeletedRole gives a user a role in the project alpha that does not exist, as if it had been deleted at the same time.
func giveDeletedRole(t *testing.T, s *apitest.Server, id string) {
	t.Helper()
	var number int64
	_, _ = fmt.Sscan(id, &number)
	keys := []flags.Key{flags.ProjectKey("alpha"), access.UserKey(number)}
	view, err := s.Store.Load(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	project, user := flags.Find[*flags.Project](view, keys[0]), flags.Find[*access.User](view, keys[1])
	projectAfter, userAfter := project.Clone(), user.Clone()
	userAfter.SetRoles(projectAfter, []int64{9999})
	err = s.Store.Commit(t.Context(), flags.Change{
		Writes: []flags.Write{{Before: project, After: projectAfter}, {Before: user, After: userAfter}},
		Event:  flags.Event{ID: uuid.Must(uuid.NewV7()).String(), Type: flags.ProjectUserAdded},
	})
	if err != nil {
		t.Fatal(err)
	}
}
