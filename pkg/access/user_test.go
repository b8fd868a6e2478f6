package access_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"guidon/pkg/access"
	"guidon/pkg/flags"
)

func TestUserCheck(t *testing.T) {
	for _, tt := range []struct {
		name string
		user access.User
		want string // the path that is wrong; "" for none
	}{
		{"a username", access.User{Username: "u"}, ""},
		{"an email", access.User{Email: "a@example.com"}, ""},
		{"without username and email", access.User{Name: "N"}, "/username"},
		{"an email without a local part", access.User{Email: "@example.com"}, "/email"},
		{"an email without a host", access.User{Email: "a"}, "/email"},
		{"an email without a domain", access.User{Email: "bo@example"}, "/email"},
		{"an email with a dot only before the host", access.User{Email: "b.o@example"}, "/email"},
		{"an email with a domain that ends with a dot", access.User{Email: "bo@example."}, "/email"},
		{"an email with a name", access.User{Email: "A <a@example.com>"}, "/email"},
		{"two emails", access.User{Email: "a@example.com, b@example.com"}, "/email"},
		{"a long email", access.User{Email: strings.Repeat("a", 250) + "@example.com"}, "/email"},
		{"a long username", access.User{Username: strings.Repeat("ü", 101)}, "/username"},
		{"the longest username", access.User{Username: strings.Repeat("ü", 100)}, ""},
		{"a long name", access.User{Username: "u", Name: strings.Repeat("n", 101)}, "/name"},
		{"a service account", access.User{ServiceAccount: true, Username: "u", Name: "N"}, ""},
		{"a service account without a name", access.User{ServiceAccount: true, Username: "u"}, "/name"},
		{"a service account without a username", access.User{ServiceAccount: true, Name: "N"}, "/username"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var problems flags.Problems
			tt.user.Check(&problems)
			got := ""
			if len(problems) > 0 {
				got = problems[0].Path
			}
			if got != tt.want {
				t.Errorf("problems %v, want one at %q", problems, tt.want)
			}
		})
	}
}

func TestFirstUserIsProtected(t *testing.T) {
	first, other := &access.User{ID: access.FirstUserID, RootRole: access.RoleAdmin}, &access.User{ID: 2, RootRole: access.RoleAdmin}
	if err := first.CheckDeletable(); flags.KindOf(err) != flags.Invalid || err == nil {
		t.Errorf("the first user goes: %v, want Invalid", err)
	}
	if err := first.SetRootRole(access.RoleViewer); flags.KindOf(err) != flags.Invalid || err == nil || first.RootRole != access.RoleAdmin {
		t.Errorf("the first user becomes role %d: %v, want Invalid", first.RootRole, err)
	}
	if err := other.CheckDeletable(); err != nil {
		t.Errorf("another user does not go: %v", err)
	}
	if err := other.SetRootRole(access.RoleViewer); err != nil || other.RootRole != access.RoleViewer {
		t.Errorf("another user is role %d: %v", other.RootRole, err)
	}
}

func TestNewUser(t *testing.T) {
	for id, want := range map[int64]bool{1: true, 999_999: true, 1_000_000: false} {
		if _, err := access.NewUser(access.User{}, id, time.Now()); (err == nil) != want {
			t.Errorf("id %d: %v, want success %t", id, err, want)
		}
	}
}

func TestProjectMembers(t *testing.T) {
	was := &flags.Project{ID: "shop"}
	p, u := was.Clone(), &access.User{ID: 7, Projects: []string{"zoo"}}
	state := func() string {
		roles := []string{}
		for _, id := range p.RolesOf(7) {
			roles = append(roles, string(rune('0'+id)))
		}
		return strings.Join(roles, ",") + " in " + strings.Join(u.Projects, ",")
	}
	step := func(want string, err error, kind flags.Kind) {
		t.Helper()
		if got := state(); got != want {
			t.Errorf("the user holds %s, want %s", got, want)
		}
		if err != nil && flags.KindOf(err) != kind || err == nil && kind != 0 {
			t.Errorf("error %v, want kind %d", err, kind)
		}
	}
	step("5 in shop,zoo", u.AddRole(p, 5), 0)
	step("4,5 in shop,zoo", u.AddRole(p, 4), 0)
	step("4,5 in shop,zoo", u.AddRole(p, 4), flags.Conflict)
	before := p.Clone()
	step("5 in shop,zoo", u.RemoveRole(p, 4), 0)
	if !slices.Equal(before.RolesOf(7), []int64{4, 5}) {
		t.Errorf("the version before holds %v, want 4 and 5 still", before.RolesOf(7))
	}
	step("5 in shop,zoo", u.RemoveRole(p, 4), flags.NotFound)
	step(" in zoo", u.RemoveRole(p, 5), 0)
	u.SetRoles(p, []int64{5, 4, 5})
	step("4,5 in shop,zoo", nil, 0)
	p.RemoveMember(7)
	if p.MemberCount() != 0 || was.MemberCount() != 0 {
		t.Errorf("%d members, and %d before, want none", p.MemberCount(), was.MemberCount())
	}
}

func TestRolesRegistry(t *testing.T) {
	r := &access.Roles{}
	made, err := r.Add(access.Role{Name: "a", Type: access.CustomProjectRole})
	if err != nil || made.ID != 6 {
		t.Fatalf("the first custom role has id %d (%v), want 6", made.ID, err)
	}
	for _, name := range []string{"a", "Owner", "Admin"} {
		if _, err := r.Add(access.Role{Name: name}); flags.KindOf(err) != flags.NameExists {
			t.Errorf("another %q: %v, want NameExists", name, err)
		}
	}
	for _, tt := range []struct {
		name string
		role access.Role
		want flags.Kind
	}{
		{"a built-in one", access.Role{ID: 4, Name: "x", Type: access.ProjectRole}, flags.Invalid},
		{"an unknown one", access.Role{ID: 7, Name: "x"}, flags.NotFound},
		{"the name of another", access.Role{ID: 6, Name: "Viewer", Type: access.CustomProjectRole}, flags.NameExists},
		{"another type", access.Role{ID: 6, Name: "x", Type: access.CustomRootRole}, flags.Invalid},
	} {
		if err := r.Replace(tt.role); err == nil || flags.KindOf(err) != tt.want {
			t.Errorf("replacing %s: %v, want kind %d", tt.name, err, tt.want)
		}
	}
	before := r.Clone()
	if err := r.Replace(access.Role{ID: 6, Name: "b", Type: access.CustomProjectRole}); err != nil || r.Find(6).Name != "b" || before.Find(6).Name != "a" {
		t.Errorf("replaced: %v, %v; before %v", err, r.Find(6), before.Find(6))
	}
	if err := r.Remove(6); err != nil || r.Find(6) != nil {
		t.Errorf("removed: %v, %v", err, r.Find(6))
	}
	if err := r.Remove(1); err == nil || flags.KindOf(err) != flags.Invalid {
		t.Errorf("removing Admin: %v, want Invalid", err)
	}
	if again, err := r.Add(access.Role{Name: "a"}); err != nil || again.ID != 7 {
		t.Errorf("the next role has id %d (%v), want 7: ids are not used again", again.ID, err)
	}
}
