package features_test

import (
	"fmt"
	"strings"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/flags"
)

// wantRelated checks the parents and children in the response for a flag.
func wantRelated(t *testing.T, s *apitest.Server, flag, dependencies, children string) {
	t.Helper()
	s.Check(t, apitest.Call{"related", "GET", apitest.Features + "/" + flag, "", 200, fmt.Sprintf(`{"...":0,"dependencies":[%s],"children":[%s]}`, dependencies, children)})
}

// on is a parent as the response for a flag shows it.
func on(parent string) string {
	return fmt.Sprintf(`{"feature":%q,"enabled":true,"variants":[]}`, parent)
}

// hasChildren is the body of a 409 because of children, whose names are its details.
func hasChildren(part string, children ...string) string {
	details := make([]string, len(children))
	for i, child := range children {
		details[i] = fmt.Sprintf(`{"message":%q}`, child)
	}
	body := apitest.Failure("ConflictError", part)
	return strings.TrimSuffix(body, "}") + `,"details":[` + strings.Join(details, ",") + `]}`
}

func TestDependencies(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "parent", "second", "child", "other", "gone")
	s.Must(t, "DELETE", apitest.Features+"/gone", "")
	s.Must(t, "POST", "/api/admin/projects", `{"id":"elsewhere"}`)
	s.Must(t, "POST", "/api/admin/projects/elsewhere/features", `{"name":"stranger"}`)
	of := func(flag string) string { return apitest.Features + "/" + flag + "/dependencies" }
	any := apitest.Project + "/dependencies"
	s.Run(t, []apitest.Call{
		{"no dependencies", "GET", any, "", 200, `false`},
		{"any flag can be a parent", "GET", apitest.Features + "/child/parents", "", 200, `["other","parent","second"]`},
		{"add a parent", "POST", of("child"), `{"feature":"parent"}`, 200, ""},
		{"add a parent that must be disabled", "POST", of("child"), `{"feature":"second","enabled":false,"variants":[]}`, 200, ""},
		{"add the same parent again", "POST", of("child"), `{"feature":"parent","enabled":true}`, 200, ""},
		{"change a parent's variants", "POST", of("child"), `{"feature":"parent","variants":["blue","green"]}`, 200, ""},
		{"the project has dependencies", "GET", any, "", 200, `true`},
		{"another project has none", "GET", "/api/admin/projects/elsewhere/dependencies", "", 200, `false`},
		{"the parents that a child can have", "GET", apitest.Features + "/child/parents", "", 200, `["other","parent","second"]`},
		{"a child cannot be a parent", "GET", apitest.Features + "/other/parents", "", 200, `["parent","second"]`},
		{"a parent cannot have parents", "GET", apitest.Features + "/parent/parents", "", 200, `[]`},
	})
	wantRelated(t, s, "child", `{"feature":"parent","enabled":true,"variants":["blue","green"]},{"feature":"second","enabled":false,"variants":[]}`, "")
	wantRelated(t, s, "parent", "", `"child"`)
	wantRelated(t, s, "second", "", `"child"`)

	for _, flag := range []string{"child", "parent", "other"} {
		s.Unchanged(t, flag, []apitest.Call{
			{"no parent", "POST", of("other"), `{}`, 400, apitest.Invalid("/feature")},
			{"an invalid name", "POST", of("other"), `{"feature":"a/b"}`, 400, apitest.Invalid("/feature")},
			{"variants of a parent that must be disabled", "POST", of("other"), `{"feature":"parent","enabled":false,"variants":["blue"]}`, 400, apitest.Invalid("/variants")},
			{"a variant without a name", "POST", of("other"), `{"feature":"parent","variants":[""]}`, 400, apitest.Invalid("/variants/0")},
			{"itself", "POST", of("other"), `{"feature":"other"}`, 400, apitest.Invalid("/feature")},
			{"an unknown parent", "POST", of("other"), `{"feature":"nosuch"}`, 400, apitest.Invalid("/feature")},
			{"an archived one", "POST", of("other"), `{"feature":"gone"}`, 400, apitest.Invalid("/feature")},
			{"one of another project", "POST", of("other"), `{"feature":"stranger"}`, 400, apitest.Invalid("/feature")},
			{"a parent that is a child", "POST", of("other"), `{"feature":"child"}`, 400, apitest.Invalid("/feature")},
			{"a parent that is its child", "POST", of("parent"), `{"feature":"child"}`, 400, apitest.Invalid("/feature")},
			{"a flag that is a parent", "POST", of("parent"), `{"feature":"other"}`, 409, hasChildren("is a parent and cannot have one itself", "child")},
			{"a flag of another project", "POST", "/api/admin/projects/elsewhere/features/other/dependencies", `{"feature":"parent"}`, 404, apitest.NotFound(`"other"`)},
			{"remove an unknown parent", "DELETE", of("child") + "/other", "", 404, apitest.NotFound(`"other"`)},
			{"remove the parents of a flag without parents", "DELETE", of("other"), "", 200, ""},
		})
	}
	s.Run(t, []apitest.Call{
		{"remove a parent", "DELETE", of("child") + "/second", "", 200, ""},
		{"remove it again", "DELETE", of("child") + "/second", "", 404, apitest.NotFound(`"second"`)},
		{"a former parent becomes a child", "POST", of("second"), `{"feature":"parent"}`, 200, ""},
		{"remove all parents", "DELETE", of("child"), "", 200, ""},
		{"remove all parents again", "DELETE", of("child"), "", 200, ""},
	})
	wantRelated(t, s, "child", "", "")
	wantRelated(t, s, "parent", "", `"second"`)
	s.WantHistory(t, "child",
		flags.FeatureCreated, flags.FeatureDependencyAdded, flags.FeatureDependencyAdded, flags.FeatureDependencyAdded,
		flags.FeatureDependencyRemoved, flags.FeatureDependenciesRemoved)
	if got := s.Events(t, "parent"); len(got) != 1 {
		t.Errorf("events of the parent %q, want only its creation: a dependency is an event of the child", got)
	}
}

// TestArchiveParentsAndChildren archives, revives and clones flags with dependencies.
func TestArchiveParentsAndChildren(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "parent", "b", "a")
	s.Depend(t, "parent", "b", "a")
	archive := func(flag string) apitest.Call {
		return apitest.Call{"archive " + flag, "DELETE", apitest.Features + "/" + flag, "", 202, ""}
	}
	s.Unchanged(t, "parent", []apitest.Call{{"archive a parent", "DELETE", apitest.Features + "/parent", "", 409, hasChildren("2 other flags depend on it", "a", "b")}})

	s.Run(t, []apitest.Call{{"clone a child", "POST", apitest.Features + "/a/clone", `{"name":"c"}`, 201, apitest.Anything}})
	wantRelated(t, s, "c", on("parent"), "")
	wantRelated(t, s, "parent", "", `"a","b","c"`)
	s.Run(t, []apitest.Call{{"clone a parent", "POST", apitest.Features + "/parent/clone", `{"name":"d"}`, 201, apitest.Anything}})
	wantRelated(t, s, "d", "", "")

	s.Run(t, []apitest.Call{archive("a"), archive("a")})
	wantRelated(t, s, "parent", "", `"b","c"`)
	s.Unchanged(t, "parent", []apitest.Call{{"archive a parent of two", "DELETE", apitest.Features + "/parent", "", 409, hasChildren("2 other flags", "b", "c")}})
	s.Run(t, []apitest.Call{archive("b"), archive("c"), archive("parent")})

	s.Must(t, "POST", "/api/admin/archive/revive/a", "")
	wantRelated(t, s, "a", "", "")
	s.Run(t, []apitest.Call{{"a parent that is archived", "POST", apitest.Features + "/a/dependencies", `{"feature":"parent"}`, 400, apitest.Invalid("/feature")}})
	s.Must(t, "POST", "/api/admin/archive/revive/parent", "")
	wantRelated(t, s, "parent", "", "")
	s.Depend(t, "parent", "a")
	wantRelated(t, s, "a", on("parent"), "")
	s.Run(t, []apitest.Call{{"the project has dependencies again", "GET", apitest.Project + "/dependencies", "", 200, `true`}})

	events, err := s.Store.Events(t.Context(), &flags.Feature{Name: "a"})
	if err != nil || len(events) != 6 || events[2].Type != flags.FeatureArchived || events[3].Type != flags.FeatureDependenciesRemoved {
		t.Fatalf("events %+v, %v; want six, the third for archiving and the fourth for removing the dependencies", events, err)
	}
	if got, want := fmt.Sprint(events[3].PreData), `{"dependencies":[{"feature":"parent","enabled":true,"variants":[]}]}`; got != want {
		t.Errorf("preData of the removed dependencies: %s, want %s", got, want)
	}
}

func TestParallelDependencies(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "parent")
	names := make([]string, 20)
	for i := range names {
		names[i] = fmt.Sprintf("child-%02d", i)
	}
	s.Create(t, names...)
	s.WantParallel(t, map[int]int{200: len(names)}, len(names), func(i int) apitest.Call {
		return apitest.Call{Method: "POST", Path: apitest.Features + "/" + names[i] + "/dependencies", Body: `{"feature":"parent"}`}
	})
	wantRelated(t, s, "parent", "", `"`+strings.Join(names, `","`)+`"`)
	for _, name := range names {
		s.WantEvents(t, name, flags.FeatureDependencyAdded, 1)
	}

	for i := range 10 { // two flags that become the parent of each other
		a, b := fmt.Sprintf("a-%d", i), fmt.Sprintf("b-%d", i)
		s.Create(t, a, b)
		calls := []apitest.Call{
			{Method: "POST", Path: apitest.Features + "/" + a + "/dependencies", Body: fmt.Sprintf(`{"feature":%q}`, b)},
			{Method: "POST", Path: apitest.Features + "/" + b + "/dependencies", Body: fmt.Sprintf(`{"feature":%q}`, a)},
		}
		s.WantParallel(t, map[int]int{200: 1, 400: 1}, 2, func(i int) apitest.Call { return calls[i] })
	}

	for i := range 10 { // a flag that is archived while it gets a child
		parent, child := fmt.Sprintf("parent-%d", i), fmt.Sprintf("child-%d", i)
		s.Create(t, parent, child)
		calls := []apitest.Call{
			{Method: "DELETE", Path: apitest.Features + "/" + parent},
			{Method: "POST", Path: apitest.Features + "/" + child + "/dependencies", Body: fmt.Sprintf(`{"feature":%q}`, parent)},
		}
		got := s.Parallel(t, 2, func(i int) apitest.Call { return calls[i] })
		if got[202] == 1 && got[400] == 1 {
			wantRelated(t, s, child, "", "")
		} else {
			apitest.WantStatuses(t, got, map[int]int{200: 1, 409: 1})
			wantRelated(t, s, child, on(parent), "")
			wantRelated(t, s, parent, "", `"`+child+`"`)
		}
	}
}
