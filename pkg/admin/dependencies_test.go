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

// wantRelated sees which parents and children a flag is read with, and that it is read at all.
func (s *server) wantRelated(t *testing.T, flag, dependencies, children string) {
	t.Helper()
	s.check(t, call{"related", "GET", features + "/" + flag, "", 200, fmt.Sprintf(`{"...":0,"dependencies":[%s],"children":[%s]}`, dependencies, children)})
}

// on is a parent as the read of a flag shows it.
func on(parent string) string {
	return fmt.Sprintf(`{"feature":%q,"enabled":true,"variants":[]}`, parent)
}

// inTheWay is the body of a 409 that children are the reason of, with their names.
func inTheWay(part string, children ...string) string {
	details := make([]string, len(children))
	for i, child := range children {
		details[i] = fmt.Sprintf(`{"message":%q}`, child)
	}
	body := failure("ConflictError", part)
	return strings.TrimSuffix(body, "}") + `,"details":[` + strings.Join(details, ",") + `]}`
}

func TestDependencies(t *testing.T) {
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.create(t, "parent", "second", "child", "other", "gone")
	s.must(t, "DELETE", features+"/gone", "")
	s.must(t, "POST", "/api/admin/projects", `{"id":"elsewhere"}`)
	s.must(t, "POST", "/api/admin/projects/elsewhere/features", `{"name":"stranger"}`)
	of := func(flag string) string { return features + "/" + flag + "/dependencies" }
	any := project + "/dependencies"
	s.run(t, []call{
		{"none yet", "GET", any, "", 200, `false`},
		{"all can be a parent", "GET", features + "/child/parents", "", 200, `["other","parent","second"]`},
		{"one", "POST", of("child"), `{"feature":"parent"}`, 200, ""},
		{"another, that must be off", "POST", of("child"), `{"feature":"second","enabled":false,"variants":[]}`, 200, ""},
		{"the first again", "POST", of("child"), `{"feature":"parent","enabled":true}`, 200, ""},
		{"the first with variants", "POST", of("child"), `{"feature":"parent","variants":["blue","green"]}`, 200, ""},
		{"there are some", "GET", any, "", 200, `true`},
		{"in another project there are none", "GET", "/api/admin/projects/elsewhere/dependencies", "", 200, `false`},
		{"its parents are still to choose from", "GET", features + "/child/parents", "", 200, `["other","parent","second"]`},
		{"a child is no parent for others", "GET", features + "/other/parents", "", 200, `["parent","second"]`},
		{"a parent has no choice", "GET", features + "/parent/parents", "", 200, `[]`},
	})
	s.wantRelated(t, "child", `{"feature":"parent","enabled":true,"variants":["blue","green"]},{"feature":"second","enabled":false,"variants":[]}`, "")
	s.wantRelated(t, "parent", "", `"child"`)
	s.wantRelated(t, "second", "", `"child"`)

	for _, flag := range []string{"child", "parent", "other"} {
		s.unchanged(t, flag, []call{
			{"nobody", "POST", of("other"), `{}`, 400, invalid("/feature")},
			{"what can be no name", "POST", of("other"), `{"feature":"a/b"}`, 400, invalid("/feature")},
			{"variants of one that must be off", "POST", of("other"), `{"feature":"parent","enabled":false,"variants":["blue"]}`, 400, invalid("/variants")},
			{"a variant without a name", "POST", of("other"), `{"feature":"parent","variants":[""]}`, 400, invalid("/variants/0")},
			{"itself", "POST", of("other"), `{"feature":"other"}`, 400, invalid("/feature")},
			{"an unknown flag", "POST", of("other"), `{"feature":"nosuch"}`, 400, invalid("/feature")},
			{"an archived one", "POST", of("other"), `{"feature":"gone"}`, 400, invalid("/feature")},
			{"one of another project", "POST", of("other"), `{"feature":"stranger"}`, 400, invalid("/feature")},
			{"a child", "POST", of("other"), `{"feature":"child"}`, 400, invalid("/feature")},
			{"its own child", "POST", of("parent"), `{"feature":"child"}`, 400, invalid("/feature")},
			{"of a parent", "POST", of("parent"), `{"feature":"other"}`, 409, inTheWay("depends on it", "child")},
			{"of an archived flag", "POST", of("gone"), `{"feature":"parent"}`, 404, notFound("archived")},
			{"of an unknown flag", "POST", of("nosuch"), `{"feature":"parent"}`, 404, notFound(`"nosuch"`)},
			{"through another project", "POST", "/api/admin/projects/elsewhere/features/other/dependencies", `{"feature":"parent"}`, 404, notFound(`"other"`)},
			{"end one that is not there", "DELETE", of("child") + "/other", "", 404, notFound(`"other"`)},
			{"end those of a flag without", "DELETE", of("other"), "", 200, ""},
			{"of an unknown project", "GET", "/api/admin/projects/nosuch/dependencies", "", 404, notFound(`"nosuch"`)},
		})
	}
	s.run(t, []call{
		{"end one", "DELETE", of("child") + "/second", "", 200, ""},
		{"end it again", "DELETE", of("child") + "/second", "", 404, notFound(`"second"`)},
		{"on its own, one can depend", "POST", of("second"), `{"feature":"parent"}`, 200, ""},
		{"end all", "DELETE", of("child"), "", 200, ""},
		{"end all again", "DELETE", of("child"), "", 200, ""},
	})
	s.wantRelated(t, "child", "", "")
	s.wantRelated(t, "parent", "", `"second"`)
	want := []flags.EventType{
		flags.FeatureCreated, flags.FeatureDependencyAdded, flags.FeatureDependencyAdded, flags.FeatureDependencyAdded,
		flags.FeatureDependencyRemoved, flags.FeatureDependenciesRemoved,
	}
	if got := s.events(t, "child"); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q: none where nothing changed", got, want)
	}
	if got := s.events(t, "parent"); len(got) != 1 {
		t.Errorf("events of the parent %q, want its creation alone: what a child does is told of the child", got)
	}
}

// TestArchiveParentsAndChildren archives, revives and clones flags that depend on others.
func TestArchiveParentsAndChildren(t *testing.T) {
	s := serve(t)
	t.Cleanup(func() { dynamotest.Check(t, s.store) })
	s.create(t, "parent", "b", "a")
	s.depends(t, "parent", "b", "a")
	archive := func(flag string) call { return call{"archived", "DELETE", features + "/" + flag, "", 202, ""} }
	s.unchanged(t, "parent", []call{{"a parent", "DELETE", features + "/parent", "", 409, inTheWay("2 other flags depend on it", "a", "b")}})

	s.run(t, []call{{"cloned", "POST", features + "/a/clone", `{"name":"c"}`, 201, anything}})
	s.wantRelated(t, "c", on("parent"), "")
	s.wantRelated(t, "parent", "", `"a","b","c"`)
	s.run(t, []call{{"a parent is cloned", "POST", features + "/parent/clone", `{"name":"d"}`, 201, anything}})
	s.wantRelated(t, "d", "", "")

	s.run(t, []call{archive("a"), archive("a")})
	s.wantRelated(t, "parent", "", `"b","c"`)
	s.unchanged(t, "parent", []call{{"still a parent", "DELETE", features + "/parent", "", 409, inTheWay("2 other flags", "b", "c")}})
	s.run(t, []call{archive("b"), archive("c"), archive("parent")})

	s.must(t, "POST", "/api/admin/archive/revive/a", "")
	s.wantRelated(t, "a", "", "")
	s.run(t, []call{{"its parent is still archived", "POST", features + "/a/dependencies", `{"feature":"parent"}`, 400, invalid("/feature")}})
	s.must(t, "POST", "/api/admin/archive/revive/parent", "")
	s.wantRelated(t, "parent", "", "")
	s.depends(t, "parent", "a")
	s.wantRelated(t, "a", on("parent"), "")
	s.run(t, []call{{"any again", "GET", project + "/dependencies", "", 200, `true`}})

	events, err := s.store.Events(t.Context(), &flags.Feature{Name: "a"})
	if err != nil || len(events) != 6 || events[2].Type != flags.FeatureArchived || events[3].Type != flags.FeatureDependenciesRemoved {
		t.Fatalf("events %+v, %v; want six, the third that it was archived, the fourth that its dependencies were removed", events, err)
	}
	if got, want := fmt.Sprint(events[3].PreData), `{"dependencies":[{"feature":"parent","enabled":true,"variants":[]}]}`; got != want {
		t.Errorf("before it was archived: %s, want %s", got, want)
	}
}

func TestParallelDependencies(t *testing.T) {
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

	for i := range 10 { // each the parent of the other
		a, b := fmt.Sprintf("a-%d", i), fmt.Sprintf("b-%d", i)
		s.create(t, a, b)
		calls := []call{
			{method: "POST", path: features + "/" + a + "/dependencies", body: fmt.Sprintf(`{"feature":%q}`, b)},
			{method: "POST", path: features + "/" + b + "/dependencies", body: fmt.Sprintf(`{"feature":%q}`, a)},
		}
		wantStatuses(t, s.parallel(t, 2, func(i int) call { return calls[i] }), map[int]int{200: 1, 400: 1})
	}

	for i := range 10 { // a parent that is archived while it gets a child
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
