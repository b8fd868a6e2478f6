package admin_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"guidon/pkg/dynamo/dynamotest"
	"guidon/pkg/flags"
)

// depends makes flags of the project "default" depend on a parent.
func (s *server) depends(t *testing.T, parent string, children ...string) {
	t.Helper()
	for _, child := range children {
		s.must(t, "POST", features+"/"+child+"/dependencies", fmt.Sprintf(`{"feature":%q}`, parent))
	}
}

// wantRelated checks the parents and children in the response for a flag.
func (s *server) wantRelated(t *testing.T, flag, dependencies, children string) {
	t.Helper()
	s.check(t, call{"related", "GET", features + "/" + flag, "", 200, fmt.Sprintf(`{"...":0,"dependencies":[%s],"children":[%s]}`, dependencies, children)})
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
	body := failure("ConflictError", part)
	return strings.TrimSuffix(body, "}") + `,"details":[` + strings.Join(details, ",") + `]}`
}

func TestDependencies(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.create(t, "parent", "second", "child", "other", "gone")
	s.must(t, "DELETE", features+"/gone", "")
	s.must(t, "POST", "/api/admin/projects", `{"id":"elsewhere"}`)
	s.must(t, "POST", "/api/admin/projects/elsewhere/features", `{"name":"stranger"}`)
	of := func(flag string) string { return features + "/" + flag + "/dependencies" }
	any := project + "/dependencies"
	s.run(t, []call{
		{"no dependencies", "GET", any, "", 200, `false`},
		{"any flag can be a parent", "GET", features + "/child/parents", "", 200, `["other","parent","second"]`},
		{"add a parent", "POST", of("child"), `{"feature":"parent"}`, 200, ""},
		{"add a parent that must be disabled", "POST", of("child"), `{"feature":"second","enabled":false,"variants":[]}`, 200, ""},
		{"add the same parent again", "POST", of("child"), `{"feature":"parent","enabled":true}`, 200, ""},
		{"change a parent's variants", "POST", of("child"), `{"feature":"parent","variants":["blue","green"]}`, 200, ""},
		{"the project has dependencies", "GET", any, "", 200, `true`},
		{"another project has none", "GET", "/api/admin/projects/elsewhere/dependencies", "", 200, `false`},
		{"the parents that a child can have", "GET", features + "/child/parents", "", 200, `["other","parent","second"]`},
		{"a child cannot be a parent", "GET", features + "/other/parents", "", 200, `["parent","second"]`},
		{"a parent cannot have parents", "GET", features + "/parent/parents", "", 200, `[]`},
	})
	s.wantRelated(t, "child", `{"feature":"parent","enabled":true,"variants":["blue","green"]},{"feature":"second","enabled":false,"variants":[]}`, "")
	s.wantRelated(t, "parent", "", `"child"`)
	s.wantRelated(t, "second", "", `"child"`)

	for _, flag := range []string{"child", "parent", "other"} {
		s.unchanged(t, flag, []call{
			{"no parent", "POST", of("other"), `{}`, 400, invalid("/feature")},
			{"an invalid name", "POST", of("other"), `{"feature":"a/b"}`, 400, invalid("/feature")},
			{"variants of a parent that must be disabled", "POST", of("other"), `{"feature":"parent","enabled":false,"variants":["blue"]}`, 400, invalid("/variants")},
			{"a variant without a name", "POST", of("other"), `{"feature":"parent","variants":[""]}`, 400, invalid("/variants/0")},
			{"itself", "POST", of("other"), `{"feature":"other"}`, 400, invalid("/feature")},
			{"an unknown parent", "POST", of("other"), `{"feature":"nosuch"}`, 400, invalid("/feature")},
			{"an archived one", "POST", of("other"), `{"feature":"gone"}`, 400, invalid("/feature")},
			{"one of another project", "POST", of("other"), `{"feature":"stranger"}`, 400, invalid("/feature")},
			{"a parent that is a child", "POST", of("other"), `{"feature":"child"}`, 400, invalid("/feature")},
			{"a parent that is its child", "POST", of("parent"), `{"feature":"child"}`, 400, invalid("/feature")},
			{"a flag that is a parent", "POST", of("parent"), `{"feature":"other"}`, 409, hasChildren("is a parent and cannot have one itself", "child")},
			{"an archived flag", "POST", of("gone"), `{"feature":"parent"}`, 404, notFound("archived")},
			{"an unknown child", "POST", of("nosuch"), `{"feature":"parent"}`, 404, notFound(`"nosuch"`)},
			{"a flag of another project", "POST", "/api/admin/projects/elsewhere/features/other/dependencies", `{"feature":"parent"}`, 404, notFound(`"other"`)},
			{"remove an unknown parent", "DELETE", of("child") + "/other", "", 404, notFound(`"other"`)},
			{"remove the parents of a flag without parents", "DELETE", of("other"), "", 200, ""},
			{"an unknown project", "GET", "/api/admin/projects/nosuch/dependencies", "", 404, notFound(`"nosuch"`)},
		})
	}
	s.run(t, []call{
		{"remove a parent", "DELETE", of("child") + "/second", "", 200, ""},
		{"remove it again", "DELETE", of("child") + "/second", "", 404, notFound(`"second"`)},
		{"a former parent becomes a child", "POST", of("second"), `{"feature":"parent"}`, 200, ""},
		{"remove all parents", "DELETE", of("child"), "", 200, ""},
		{"remove all parents again", "DELETE", of("child"), "", 200, ""},
	})
	s.wantRelated(t, "child", "", "")
	s.wantRelated(t, "parent", "", `"second"`)
	want := []flags.EventType{
		flags.FeatureCreated, flags.FeatureDependencyAdded, flags.FeatureDependencyAdded, flags.FeatureDependencyAdded,
		flags.FeatureDependencyRemoved, flags.FeatureDependenciesRemoved,
	}
	if got := s.events(t, "child"); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q: no event without a change", got, want)
	}
	if got := s.events(t, "parent"); len(got) != 1 {
		t.Errorf("events of the parent %q, want only its creation: a dependency is an event of the child", got)
	}
}

// TestArchiveParentsAndChildren archives, revives and clones flags with dependencies.
func TestArchiveParentsAndChildren(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.create(t, "parent", "b", "a")
	s.depends(t, "parent", "b", "a")
	archive := func(flag string) call { return call{"archive " + flag, "DELETE", features + "/" + flag, "", 202, ""} }
	s.unchanged(t, "parent", []call{{"archive a parent", "DELETE", features + "/parent", "", 409, hasChildren("2 other flags depend on it", "a", "b")}})

	s.run(t, []call{{"clone a child", "POST", features + "/a/clone", `{"name":"c"}`, 201, anything}})
	s.wantRelated(t, "c", on("parent"), "")
	s.wantRelated(t, "parent", "", `"a","b","c"`)
	s.run(t, []call{{"clone a parent", "POST", features + "/parent/clone", `{"name":"d"}`, 201, anything}})
	s.wantRelated(t, "d", "", "")

	s.run(t, []call{archive("a"), archive("a")})
	s.wantRelated(t, "parent", "", `"b","c"`)
	s.unchanged(t, "parent", []call{{"archive a parent of two", "DELETE", features + "/parent", "", 409, hasChildren("2 other flags", "b", "c")}})
	s.run(t, []call{archive("b"), archive("c"), archive("parent")})

	s.must(t, "POST", "/api/admin/archive/revive/a", "")
	s.wantRelated(t, "a", "", "")
	s.run(t, []call{{"a parent that is archived", "POST", features + "/a/dependencies", `{"feature":"parent"}`, 400, invalid("/feature")}})
	s.must(t, "POST", "/api/admin/archive/revive/parent", "")
	s.wantRelated(t, "parent", "", "")
	s.depends(t, "parent", "a")
	s.wantRelated(t, "a", on("parent"), "")
	s.run(t, []call{{"the project has dependencies again", "GET", project + "/dependencies", "", 200, `true`}})

	events, err := s.store.Events(t.Context(), &flags.Feature{Name: "a"})
	if err != nil || len(events) != 6 || events[2].Type != flags.FeatureArchived || events[3].Type != flags.FeatureDependenciesRemoved {
		t.Fatalf("events %+v, %v; want six, the third for archiving and the fourth for removing the dependencies", events, err)
	}
	if got, want := fmt.Sprint(events[3].PreData), `{"dependencies":[{"feature":"parent","enabled":true,"variants":[]}]}`; got != want {
		t.Errorf("preData of the removed dependencies: %s, want %s", got, want)
	}
}

func TestParallelDependencies(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.create(t, "parent")
	names := make([]string, 20)
	for i := range names {
		names[i] = fmt.Sprintf("child-%02d", i)
	}
	s.create(t, names...)
	got := s.parallel(t, len(names), func(i int) call {
		return call{method: "POST", path: features + "/" + names[i] + "/dependencies", body: `{"feature":"parent"}`}
	})
	wantStatuses(t, got, map[int]int{200: len(names)})
	s.wantRelated(t, "parent", "", `"`+strings.Join(names, `","`)+`"`)
	for _, name := range names {
		s.wantEvents(t, name, flags.FeatureDependencyAdded, 1)
	}

	for i := range 10 { // two flags that become the parent of each other
		a, b := fmt.Sprintf("a-%d", i), fmt.Sprintf("b-%d", i)
		s.create(t, a, b)
		calls := []call{
			{method: "POST", path: features + "/" + a + "/dependencies", body: fmt.Sprintf(`{"feature":%q}`, b)},
			{method: "POST", path: features + "/" + b + "/dependencies", body: fmt.Sprintf(`{"feature":%q}`, a)},
		}
		wantStatuses(t, s.parallel(t, 2, func(i int) call { return calls[i] }), map[int]int{200: 1, 400: 1})
	}

	for i := range 10 { // a flag that is archived while it gets a child
		parent, child := fmt.Sprintf("parent-%d", i), fmt.Sprintf("child-%d", i)
		s.create(t, parent, child)
		calls := []call{
			{method: "DELETE", path: features + "/" + parent},
			{method: "POST", path: features + "/" + child + "/dependencies", body: fmt.Sprintf(`{"feature":%q}`, parent)},
		}
		got := s.parallel(t, 2, func(i int) call { return calls[i] })
		if got[202] == 1 && got[400] == 1 {
			s.wantRelated(t, child, "", "")
		} else {
			wantStatuses(t, got, map[int]int{200: 1, 409: 1})
			s.wantRelated(t, child, on(parent), "")
			s.wantRelated(t, parent, "", `"`+child+`"`)
		}
	}
}
