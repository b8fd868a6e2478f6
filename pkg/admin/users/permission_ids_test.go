package users_test

import (
	"fmt"
	"slices"
	"testing"

	"guidon/pkg/apitest"
)

// TestPermissionIDs checks what the acceptance tests of Unleash's Terraform provider read: the ids of permissions, and the
// type of a permission in an environment.
func TestPermissionIDs(t *testing.T) {
	t.Parallel()
	type permission struct {
		ID                      int
		Name, Type, Environment string
	}
	s := apitest.Serve(t)
	list := apitest.Decode[struct {
		Permissions struct {
			Root, Project []permission
			Environments  []struct {
				Name        string
				Permissions []permission
			}
		}
	}](t, s.Must(t, "GET", "/api/admin/permissions", "").Body)
	all := slices.Concat(list.Permissions.Root, list.Permissions.Project)
	for _, env := range list.Permissions.Environments {
		if env.Name == "development" {
			all = append(all, env.Permissions...)
		}
	}
	byName, byID := map[string]permission{}, map[int]string{}
	for _, p := range all {
		if other := byID[p.ID]; other != "" || p.ID < 1 {
			t.Errorf("%s has the id %d, as %q has", p.Name, p.ID, other)
		}
		byName[p.Name], byID[p.ID] = p, p.Name
	}
	for _, want := range []permission{
		{12, "CREATE_PROJECT", "root", ""}, {13, "UPDATE_PROJECT", "project", ""}, {25, "CREATE_FEATURE_STRATEGY", "environment", "development"},
	} {
		if got := byName[want.Name]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	s.Check(t, apitest.Call{"the default project", "GET", apitest.Project, "", 200, `{"...":0,"name":"Default","description":"Default project"}`})
}
