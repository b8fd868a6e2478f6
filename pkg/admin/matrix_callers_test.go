package admin_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// What may be held where, written down once more: the matrix is held to this page, not to what the code makes of it.
// READ is what everybody with an account has, ADMIN is all of it.
var permissionsOf = map[flags.Scope]string{
	flags.RootScope: "ADMIN CREATE_PROJECT CREATE_ENVIRONMENT UPDATE_ENVIRONMENT DELETE_ENVIRONMENT CREATE_STRATEGY UPDATE_STRATEGY " +
		"DELETE_STRATEGY CREATE_TAG_TYPE UPDATE_TAG_TYPE DELETE_TAG_TYPE CREATE_CONTEXT_FIELD UPDATE_CONTEXT_FIELD DELETE_CONTEXT_FIELD " +
		"CREATE_SEGMENT UPDATE_SEGMENT DELETE_SEGMENT READ_ROLE READ_CLIENT_API_TOKEN CREATE_CLIENT_API_TOKEN " +
		"UPDATE_CLIENT_API_TOKEN DELETE_CLIENT_API_TOKEN READ_FRONTEND_API_TOKEN CREATE_FRONTEND_API_TOKEN " +
		"UPDATE_FRONTEND_API_TOKEN DELETE_FRONTEND_API_TOKEN",
	flags.ProjectScope: "UPDATE_PROJECT DELETE_PROJECT PROJECT_USER_ACCESS_READ PROJECT_USER_ACCESS_WRITE CREATE_FEATURE UPDATE_FEATURE " +
		"DELETE_FEATURE MOVE_FEATURE_TOGGLE UPDATE_FEATURE_DEPENDENCY READ_PROJECT_API_TOKEN CREATE_PROJECT_API_TOKEN DELETE_PROJECT_API_TOKEN UPDATE_PROJECT_SEGMENT",
	flags.EnvironmentScope: "UPDATE_FEATURE_ENVIRONMENT UPDATE_FEATURE_ENVIRONMENT_VARIANTS CREATE_FEATURE_STRATEGY " +
		"UPDATE_FEATURE_STRATEGY DELETE_FEATURE_STRATEGY",
}

// What the built-in roles hold.
const (
	editorHolds = "CREATE_PROJECT CREATE_STRATEGY UPDATE_STRATEGY DELETE_STRATEGY CREATE_TAG_TYPE UPDATE_TAG_TYPE DELETE_TAG_TYPE " +
		"CREATE_CONTEXT_FIELD UPDATE_CONTEXT_FIELD DELETE_CONTEXT_FIELD CREATE_SEGMENT UPDATE_SEGMENT DELETE_SEGMENT " +
		"READ_CLIENT_API_TOKEN CREATE_CLIENT_API_TOKEN UPDATE_CLIENT_API_TOKEN DELETE_CLIENT_API_TOKEN READ_FRONTEND_API_TOKEN " +
		"CREATE_FRONTEND_API_TOKEN UPDATE_FRONTEND_API_TOKEN DELETE_FRONTEND_API_TOKEN"
	ownerHolds = "UPDATE_PROJECT DELETE_PROJECT PROJECT_USER_ACCESS_READ PROJECT_USER_ACCESS_WRITE CREATE_FEATURE UPDATE_FEATURE " +
		"DELETE_FEATURE MOVE_FEATURE_TOGGLE UPDATE_FEATURE_DEPENDENCY READ_PROJECT_API_TOKEN CREATE_PROJECT_API_TOKEN DELETE_PROJECT_API_TOKEN UPDATE_PROJECT_SEGMENT UPDATE_FEATURE_ENVIRONMENT " +
		"UPDATE_FEATURE_ENVIRONMENT_VARIANTS CREATE_FEATURE_STRATEGY UPDATE_FEATURE_STRATEGY DELETE_FEATURE_STRATEGY"
	memberHolds = "CREATE_FEATURE UPDATE_FEATURE DELETE_FEATURE UPDATE_FEATURE_DEPENDENCY UPDATE_FEATURE_ENVIRONMENT UPDATE_FEATURE_ENVIRONMENT_VARIANTS " +
		"CREATE_FEATURE_STRATEGY UPDATE_FEATURE_STRATEGY DELETE_FEATURE_STRATEGY"
)

// A holder is somebody who calls, and what they hold.
type holder struct {
	name    string
	secret  string
	open    bool // calls where AUTH_TYPE is none
	refused int  // the status of every answer, whatever is asked; 0 where it depends
	person  bool // by a personal token, a person's or a program's

	// holds is by project, and by "" in the whole service: PERMISSION, or PERMISSION@environment for one of them.
	holds map[string]string
}

// has tells whether the holder has a permission in a place, an environment of "" being all of them.
func (h holder) has(permission, project, environment string) bool {
	places := []string{""}
	if project != "" && !slices.Contains(strings.Fields(permissionsOf[flags.RootScope]), permission) {
		places = append(places, project)
	}
	for _, place := range places {
		for _, held := range strings.Fields(h.holds[place]) {
			name, only, _ := strings.Cut(held, "@")
			gives := name == permission || name == "ADMIN" ||
				name == "UPDATE_PROJECT" && strings.HasPrefix(permission, "PROJECT_USER_ACCESS_")
			if gives && (only == "" || only == environment) {
				return true
			}
		}
	}
	return false
}

// TestPermissionsAreDocumented sees that the page above has every permission: a new one belongs there, and in the
// built-in roles that hold it.
func TestPermissionsAreDocumented(t *testing.T) {
	for scope, names := range permissionsOf {
		var got []string
		for _, info := range flags.Permissions(scope) {
			got = append(got, string(info.Name))
		}
		if want := strings.Fields(names); !slices.Equal(got, want) {
			t.Errorf("scope %d: permissions %q, want %q", scope, got, want)
		}
	}
	built := map[int64]string{flags.RoleAdmin: "ADMIN", flags.RoleEditor: editorHolds, flags.RoleOwner: ownerHolds, flags.RoleMember: memberHolds}
	for _, role := range (&flags.Roles{}).List() {
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

// roleOf makes a custom role that holds permissions: PERMISSION, or PERMISSION@environment.
func (s *server) roleOf(t *testing.T, kind, holds string) string {
	t.Helper()
	list := []string{}
	for _, held := range strings.Fields(holds) {
		name, only, _ := strings.Cut(held, "@")
		environment := "null"
		if only != "" {
			environment = fmt.Sprintf("%q", only)
		}
		list = append(list, fmt.Sprintf(`{"name":%q,"environment":%s}`, name, environment))
	}
	return s.id(t, roles, subject{}.fill(fmt.Sprintf(`{"name":"{new}","type":%q,"permissions":[%s]}`, kind, strings.Join(list, ","))))
}

// holders are all who walk the matrix: they hold what they hold in the project "alpha", and nothing in "default" but
// for the editors, who own that one.
func (s *server) holders(t *testing.T, now time.Time) []holder {
	t.Helper()
	all := s.holdersOfAPITokens(t, now)
	all = append(all, s.holdersWithoutAccount(t)...)

	person := func(name string, root int64, holds map[string]string) (holder, string) {
		id, header := s.person(t, root)
		h := holder{name: name, secret: strings.TrimPrefix(header, "Authorization: "), person: true, holds: holds}
		return h, fmt.Sprint(id)
	}
	add := func(name string, root int64, holds map[string]string, roles ...string) {
		h, id := person(name, root, holds)
		for _, at := range roles {
			project, role, _ := strings.Cut(at, " ")
			s.must(t, "POST", "/api/admin/projects/"+project+"/users/"+id+"/roles/"+role, "")
		}
		all = append(all, h)
	}
	const alpha, preset = "alpha", "default"
	add("Admin", flags.RoleAdmin, map[string]string{"": "ADMIN"})
	add("Editor", flags.RoleEditor, map[string]string{"": editorHolds, preset: ownerHolds})
	add("Viewer", flags.RoleViewer, nil)
	add("Owner", flags.RoleViewer, map[string]string{alpha: ownerHolds}, "alpha 4")
	add("Member", flags.RoleViewer, map[string]string{alpha: memberHolds}, "alpha 5")
	add("Owner of one, Member of the other", flags.RoleViewer, map[string]string{alpha: ownerHolds, preset: memberHolds}, "alpha 4", "default 5")
	add("Editor and Member", flags.RoleEditor, map[string]string{"": editorHolds, preset: ownerHolds, alpha: memberHolds}, "alpha 5")

	custom := func(holds string) string { return "alpha " + s.roleOf(t, "custom", holds) }
	root := func(holds string) int64 {
		var id int64
		_, _ = fmt.Sscan(s.roleOf(t, "root-custom", holds), &id)
		return id
	}
	const switches, inDevelopment = "UPDATE_FEATURE_ENVIRONMENT", "UPDATE_FEATURE_ENVIRONMENT@development"
	add("a project role to switch in development", flags.RoleViewer, map[string]string{alpha: inDevelopment}, custom(inDevelopment))
	add("a project role of ADMIN", flags.RoleViewer, map[string]string{alpha: "ADMIN"}, custom("ADMIN"))
	add("a project role of what holds in the service", flags.RoleViewer, nil, custom("CREATE_PROJECT READ_ROLE CREATE_CLIENT_API_TOKEN"))
	add("a project role of what only others know", flags.RoleViewer, nil, custom("APPLY_CHANGE_REQUEST"))
	add("a root role of ADMIN", root("ADMIN"), map[string]string{"": "ADMIN"})
	add("a root role of nothing", root(""), nil)
	add("a root role to switch everywhere", root(switches), map[string]string{"": switches})
	add("a root role to switch in development", root(inDevelopment), map[string]string{"": inDevelopment})
	add("a root role of what holds in projects", root("UPDATE_FEATURE UPDATE_PROJECT READ_PROJECT_API_TOKEN"),
		map[string]string{"": "UPDATE_FEATURE UPDATE_PROJECT READ_PROJECT_API_TOKEN"})

	// Every permission by itself: a program's.
	account := func(name, rootRole string, held map[string]string, holds map[string]string) {
		all = append(all, holder{name: name, secret: s.account(t, rootRole, held), person: true, holds: holds})
	}
	for scope, names := range permissionsOf {
		for _, name := range strings.Fields(names) {
			if scope == flags.RootScope {
				account(name, s.roleOf(t, "root-custom", name), nil, map[string]string{"": name})
				continue
			}
			account(name, "3", map[string]string{alpha: s.roleOf(t, "custom", name)}, map[string]string{alpha: name})
			if scope == flags.EnvironmentScope {
				there := name + "@production"
				account(there, "3", map[string]string{alpha: s.roleOf(t, "custom", there)}, map[string]string{alpha: there})
			}
		}
	}
	account("a program that is an Editor", "2", nil, map[string]string{"": editorHolds, preset: ownerHolds})
	account("a program that is an Owner", "3", map[string]string{alpha: "4"}, map[string]string{alpha: ownerHolds})
	return all
}

// holdersOfAPITokens are those who call with an API token, or with none.
func (s *server) holdersOfAPITokens(t *testing.T, now time.Time) []holder {
	t.Helper()
	deleted := s.apiToken(t, `{"tokenName":"deleted","type":"admin"}`)
	s.must(t, "DELETE", tokenPath(deleted), "")
	everything := map[string]string{"": "ADMIN"}
	return []holder{
		{name: "no token", refused: 401},
		{name: "an unknown token", secret: "*:*.nosuch", refused: 401},
		{name: "an expired token", secret: s.adminToken(t, now), refused: 401},
		{name: "a deleted token", secret: deleted, refused: 401},
		{name: "a public signup token", secret: secretIn(s.must(t, "POST", signups, `{"name":"n","expiresAt":"2100-01-01T00:00:00Z"}`).body), refused: 401},
		{name: "a client token", secret: dynamotest.ClientToken, refused: 403},
		{name: "a client token of all", secret: s.apiToken(t, `{"tokenName":"c","type":"client","environment":"*"}`), refused: 403},
		{name: "a frontend token", secret: dynamotest.FrontendToken, refused: 403},
		{name: "an admin token", secret: dynamotest.AdminToken, holds: everything},
		{name: "nobody, where all may", open: true, holds: everything},
		{name: "a client token, where all may", open: true, secret: dynamotest.ClientToken, holds: everything},
	}
}

// holdersWithoutAccount are those whose account, or what it stands on, is gone.
func (s *server) holdersWithoutAccount(t *testing.T) []holder {
	t.Helper()
	none := func(name string, root int64, refused int, then func(id string)) holder {
		id, header := s.person(t, root)
		then(fmt.Sprint(id))
		return holder{name: name, secret: strings.TrimPrefix(header, "Authorization: "), refused: refused, person: true}
	}
	owning := func(id string) { s.must(t, "POST", "/api/admin/projects/alpha/users/"+id+"/roles/4", "") }
	program := s.id(t, programs, `{"username":"gone","name":"Gone","rootRole":1}`)
	secret := secretIn(s.must(t, "POST", programs+"/"+program+"/token", `{"description":"d","expiresAt":"2100-01-01T00:00:00Z"}`).body)
	s.must(t, "DELETE", programs+"/"+program, "")
	return []holder{
		none("a deleted administrator", flags.RoleAdmin, 401, func(id string) { s.must(t, "DELETE", people+"/"+id, "") }),
		none("a deleted owner", flags.RoleViewer, 401, func(id string) { owning(id); s.must(t, "DELETE", people+"/"+id, "") }),
		{name: "a deleted program", secret: secret, refused: 401},
		none("a root role that is gone", 9999, 403, func(string) {}),
		none("a root role that is gone, and Owner", 9999, 403, owning),
		none("a project role that is gone", flags.RoleViewer, 0, func(id string) { s.goneRole(t, id) }),
		s.formerToken(t),
	}
}

// formerToken is a personal token that was taken away, of a person who is still there.
func (s *server) formerToken(t *testing.T) holder {
	t.Helper()
	_, header := s.person(t, flags.RoleAdmin)
	s.check(t, call{"take it away", "DELETE", ownTokens + "/1", "", 200, ""}, header)
	return holder{name: "a personal token that was deleted", secret: strings.TrimPrefix(header, "Authorization: "), refused: 401}
}

// goneRole gives a user a role in the project alpha that is not there: it was deleted in the moment that it was given.
func (s *server) goneRole(t *testing.T, id string) {
	t.Helper()
	var number int64
	_, _ = fmt.Sscan(id, &number)
	keys := []flags.Key{flags.ProjectKey("alpha"), flags.UserKey(number)}
	view, err := s.store.Load(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	project, user := flags.Find[*flags.Project](view, keys[0]), flags.Find[*flags.User](view, keys[1])
	projectAfter, userAfter := project.Clone(), user.Clone()
	projectAfter.SetRoles(userAfter, []int64{9999})
	err = s.store.Commit(t.Context(), flags.Change{
		Writes: []flags.Write{{Before: project, After: projectAfter}, {Before: user, After: userAfter}},
		Event:  flags.Event{ID: "event", Type: flags.ProjectUserAdded},
	})
	if err != nil {
		t.Fatal(err)
	}
}
