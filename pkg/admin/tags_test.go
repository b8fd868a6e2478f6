package admin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"guidon/pkg/access"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

// tags is the path of the tags of a flag.
func tags(flag string) string { return "/api/admin/features/" + flag + "/tags" }

// tagged is a list of tags, each "type:value".
func tagged(tags ...string) string {
	list := make([]string, len(tags))
	for i, text := range tags {
		kind, value, _ := strings.Cut(text, ":")
		list[i] = fmt.Sprintf(`{"type":%q,"value":%q}`, kind, value)
	}
	return `{"version":1,"tags":[` + strings.Join(list, ",") + `]}`
}

func TestTagTypes(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const types = "/api/admin/tag-types"
	const simple = `{"name":"simple","description":"Labels to find flags by.","icon":"#"}`
	s.run(t, []call{
		{"the built-in type", "GET", types, "", 200, `{"version":1,"tagTypes":[` + simple + `]}`},
		{"one", "GET", types + "/simple", "", 200, `{"version":1,"tagType":` + simple + `}`},
		{"create", "POST", types, `{"name":"team","description":"who","icon":"T"}`, 201, `{"name":"team","description":"who","icon":"T"}`},
		{"create with a name only", "POST", types, `{"name":"plain"}`, 201, `{"name":"plain","description":null,"icon":null}`},
		{"create with nulls", "POST", types, `{"name":"nulls","description":null,"icon":null}`, 201, `{"name":"nulls","description":null,"icon":null}`},
		{"a taken name", "POST", types, `{"name":"team"}`, 409, failure("NameExistsError", `"team"`)},
		{"no name", "POST", types, `{}`, 400, invalid("/name")},
		{"a name that is too short", "POST", types, `{"name":"a"}`, 400, invalid("/name")},
		{"a name that is too long", "POST", types, `{"name":"` + strings.Repeat("a", 51) + `"}`, 400, invalid("/name")},
		{"a name with a slash", "POST", types, `{"name":"a/b"}`, 400, invalid("/name")},
		{"an icon that is not a string", "POST", types, `{"name":"icon","icon":1}`, 400, invalid("/icon")},
		{"changed", "PUT", types + "/team", `{"name":"team","description":"what"}`, 200, ""},
		{"omitted fields stay", "GET", types + "/team", "", 200, `{"version":1,"tagType":{"name":"team","description":"what","icon":"T"}}`},
		{"remove the icon", "PUT", types + "/team", `{"icon":null}`, 200, ""},
		{"the icon is removed", "GET", types + "/team", "", 200, `{"version":1,"tagType":{"name":"team","description":"what","icon":null}}`},
		{"renamed", "PUT", types + "/team", `{"name":"other"}`, 400, invalid("/name")},
		{"change an unknown type", "PUT", types + "/nosuch", `{"description":"what"}`, 404, notFound(`"nosuch"`)},
		{"rename an unknown type: the body is checked first", "PUT", types + "/nosuch", `{"name":"other"}`, 400, invalid("/name")},
		{"deleted", "DELETE", types + "/plain", "", 200, ""},
		{"deleted again", "DELETE", types + "/plain", "", 404, notFound(`"plain"`)},
		{"an unknown type", "GET", types + "/nosuch", "", 404, notFound(`"nosuch"`)},
		{"all", "GET", types, "", 200, `{"version":1,"tagTypes":[` + simple + `,{"...":0,"name":"team"},{"...":0,"name":"nulls"}]}`},
	})
	want := []flags.EventType{
		flags.TagTypeCreated, flags.TagTypeCreated, flags.TagTypeCreated, flags.TagTypeCreated,
		flags.TagTypeUpdated, flags.TagTypeUpdated, flags.TagTypeDeleted,
	}
	if got := s.eventsOf(t, &flags.TagTypes{}); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f", "archived")
	s.must(t, "POST", "/api/admin/tag-types", `{"name":"team"}`)
	s.must(t, "POST", tags("archived"), `{"type":"team","value":"old"}`)
	s.must(t, "DELETE", features+"/archived", "")
	s.run(t, []call{
		{"none yet", "GET", tags("f"), "", 200, tagged()},
		{"tagged", "POST", tags("f"), `{"type":"simple","value":"mine"}`, 201, `{"type":"simple","value":"mine"}`},
		{"tagged again", "POST", tags("f"), `{"type":"simple","value":"mine"}`, 201, `{"type":"simple","value":"mine"}`},
		{"in another case", "POST", tags("f"), `{"type":"simple","value":"Mine"}`, 201, anything},
		{"spaces are kept", "POST", tags("f"), `{"type":"simple","value":"  a "}`, 201, `{"type":"simple","value":"  a "}`},
		{"of another type", "POST", tags("f"), `{"type":"team","value":"mine"}`, 201, anything},
		{"all, in order", "GET", tags("f"), "", 200, tagged("simple:  a ", "simple:Mine", "simple:mine", "team:mine")},
		{"an unknown type", "POST", tags("f"), `{"type":"nosuch","value":"mine"}`, 404, notFound(`"nosuch"`)},
		{"an unknown flag", "POST", tags("nosuch"), `{"type":"simple","value":"mine"}`, 404, notFound(`"nosuch"`)},
		{"an archived flag", "POST", tags("archived"), `{"type":"simple","value":"mine"}`, 404, notFound("archived")},
		{"the tags of an archived flag", "GET", tags("archived"), "", 404, notFound("archived")},
		{"remove a tag of an archived flag", "DELETE", tags("archived") + "/team/old", "", 404, notFound("archived")},
		{"without a type", "POST", tags("f"), `{"value":"mine"}`, 400, invalid("/type")},
		{"an empty object", "POST", tags("f"), `{}`, 400, invalid("/type", "/value")},
		{"a value that is too short", "POST", tags("f"), `{"type":"simple","value":"a"}`, 400, invalid("/value")},
		{"a value that is too long", "POST", tags("f"), `{"type":"simple","value":"` + strings.Repeat("é", 51) + `"}`, 400, invalid("/value")},
		{"the longest value", "POST", tags("f"), `{"type":"simple","value":"` + strings.Repeat("é", 50) + `"}`, 201, anything},
		{"removed", "DELETE", tags("f") + "/simple/" + strings.Repeat("é", 50), "", 200, ""},
		{"removed again", "DELETE", tags("f") + "/simple/" + strings.Repeat("é", 50), "", 404, notFound("no tag")},
		{"remove a tag of an unknown type", "DELETE", tags("f") + "/nosuch/mine", "", 404, notFound(`"nosuch"`)},
		{"remove a tag of an unknown flag", "DELETE", tags("nosuch") + "/simple/mine", "", 404, notFound(`"nosuch"`)},
		{"remove an empty value", "DELETE", tags("f") + "/simple/", "", 404, notFound("no such endpoint")},
		{"the flag has them", "GET", features + "/f", "", 200,
			`{"...":0,"tags":[{"type":"simple","value":"  a "},{"type":"simple","value":"Mine"},{"type":"simple","value":"mine"},{"type":"team","value":"mine"}]}`},
		{"all tags", "GET", "/api/admin/tags", "", 200,
			tagged("simple:  a ", "simple:Mine", "simple:mine", "team:mine", "team:old")},
		{"a page of them", "GET", "/api/admin/tags?offset=1&limit=2", "", 200, tagged("simple:Mine", "simple:mine")},
		{"the last page", "GET", "/api/admin/tags?offset=4&limit=2", "", 200, tagged("team:old")},
		{"past the last page", "GET", "/api/admin/tags?offset=7", "", 200, tagged()},
		{"a limit of 0 is the default", "GET", "/api/admin/tags?limit=0&offset=4", "", 200, tagged("team:old")},
		{"a page of a type", "GET", "/api/admin/tags/team?limit=1", "", 200, tagged("team:mine")},
		{"all tags of a type", "GET", "/api/admin/tags/team", "", 200, tagged("team:mine", "team:old")},
		{"all tags of an unknown type", "GET", "/api/admin/tags/nosuch", "", 404, notFound(`"nosuch"`)},
	})
	want := []flags.EventType{
		flags.FeatureCreated, flags.FeatureTagged, flags.FeatureTagged, flags.FeatureTagged, flags.FeatureTagged, flags.FeatureTagged, flags.FeatureUntagged,
	}
	if got := s.events(t, "f"); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// TestUnusedTagsAreNotListed checks that the list of all tags has those of active and archived flags, and no others.
func TestUnusedTagsAreNotListed(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.must(t, "POST", projects, `{"id":"other"}`)
	s.create(t, "one", "two", "old")
	s.must(t, "POST", projects+"/other/features", `{"name":"three"}`)
	for flag, values := range map[string]string{"one": "a b", "two": "b", "old": "c", "three": "b d"} {
		for _, value := range strings.Fields(values) {
			s.must(t, "POST", tags(flag), fmt.Sprintf(`{"type":"simple","value":"%s%s"}`, value, value))
		}
	}
	s.must(t, "DELETE", features+"/old", "")
	all := func(name string, values ...string) call {
		return call{name, "GET", "/api/admin/tags", "", 200, tagged(values...)}
	}
	s.run(t, []call{
		all("tags of all projects and of archived flags", "simple:aa", "simple:bb", "simple:cc", "simple:dd"),
		{"remove it from one flag", "DELETE", tags("one") + "/simple/bb", "", 200, ""},
		all("another flag has it", "simple:aa", "simple:bb", "simple:cc", "simple:dd"),
		{"remove it from the only flag", "PUT", tags("one"), `{"addedTags":[{"type":"simple","value":"ee"}],"removedTags":[{"type":"simple","value":"aa"}]}`, 200, anything},
		all("no longer listed", "simple:bb", "simple:cc", "simple:dd", "simple:ee"),
		{"revived", "POST", "/api/admin/archive/revive/old", "", 200, ""},
		{"remove the tag of the revived flag", "DELETE", tags("old") + "/simple/cc", "", 200, ""},
		all("its tag is no longer listed", "simple:bb", "simple:dd", "simple:ee"),
		{"of the type", "GET", "/api/admin/tags/simple", "", 200, tagged("simple:bb", "simple:dd", "simple:ee")},
	})
}

func TestChangeTags(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f")
	s.must(t, "POST", tags("f"), `{"type":"simple","value":"old"}`)
	s.run(t, []call{
		{"added and removed", "PUT", tags("f"), `{"addedTags":[{"type":"simple","value":"n1"},{"type":"simple","value":"n2"}],"removedTags":[{"type":"simple","value":"old"}]}`, 200, tagged("simple:n1", "simple:n2")},
		{"a tag to remove without a value", "PUT", tags("f"), `{"addedTags":[],"removedTags":[{"type":"simple"}]}`, 400, invalid("/removedTags/0/value")},
		{"add an existing tag, remove a missing tag", "PUT", tags("f"), `{"addedTags":[{"type":"simple","value":"n1"}],"removedTags":[{"type":"nosuch","value":"xx"}]}`, 200, tagged("simple:n1", "simple:n2")},
		{"nothing", "PUT", tags("f"), `{"addedTags":[],"removedTags":[]}`, 200, tagged("simple:n1", "simple:n2")},
		{"only removed", "PUT", tags("f"), `{"addedTags":[],"removedTags":[{"type":"simple","value":"n1"}]}`, 200, tagged("simple:n2")},
	})
	s.unchanged(t, "f", []call{
		{"an empty object", "PUT", tags("f"), `{}`, 400, invalid("/addedTags", "/removedTags")},
		{"without removals", "PUT", tags("f"), `{"addedTags":[]}`, 400, invalid("/removedTags")},
		{"not a list", "PUT", tags("f"), `{"addedTags":{},"removedTags":[]}`, 400, invalid("/addedTags")},
		{"an invalid tag", "PUT", tags("f"), `{"addedTags":[{"type":"simple","value":"ok"},{"type":"simple","value":"x"}],"removedTags":[]}`, 400, invalid("/addedTags/1/value")},
		{"a tag in both lists", "PUT", tags("f"), `{"addedTags":[{"type":"simple","value":"ok"}],"removedTags":[{"type":"simple","value":"n2"},{"type":"simple","value":"ok"}]}`, 400, invalid("/removedTags/1")},
		{"an unknown type", "PUT", tags("f"), `{"addedTags":[{"type":"simple","value":"ok"},{"type":"nosuch","value":"ok"}],"removedTags":[{"type":"simple","value":"n2"}]}`, 404, notFound(`"nosuch"`)},
		{"above the limit", "PUT", tags("f"), `{"addedTags":[` + manyTags(30) + `],"removedTags":[]}`, 400, malformed("no more than 30")},
		{"more than one request can add", "PUT", tags("f"), `{"addedTags":[` + manyTags(91) + `],"removedTags":[]}`, 400, invalid("/addedTags")},
	})
	s.check(t, call{"up to the limit", "PUT", tags("f"), `{"addedTags":[` + manyTags(29) + `],"removedTags":[]}`, 200, anything})
	s.check(t, call{"one tag above the limit", "POST", tags("f"), `{"type":"simple","value":"more"}`, 400, malformed("no more than 30")})
	want := []flags.EventType{flags.FeatureCreated, flags.FeatureTagged, flags.FeatureTagged, flags.FeatureUntagged, flags.FeatureTagged}
	if got := s.events(t, "f"); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q: one for each change", got, want)
	}
}

func manyTags(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"type":"simple","value":"tag-%d"}`, i)
	}
	return strings.Join(list, ",")
}

// TestTagValues adds tags with special characters to a flag, and removes them by their path.
func TestTagValues(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f")
	for _, value := range []string{
		"..", "...", "../..", "./", "//", "/a", "a/", "a/b", "a//b", "a/../b", "a b", " a", "a%2Fb", "%2F", "100%", "%25", "a?b=c", "a#b", "a&b=c", "a+b",
		"a:b", "a;b", "a,b", "é😀", "ab\x00", "a\nb", `"a"`, `a\b`, "<a>", "{a}", "validate", "{value...}", "a\u2028b",
	} {
		t.Run(fmt.Sprintf("%q", value), func(t *testing.T) {
			quoted, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			one := fmt.Sprintf(`{"type":"simple","value":%s}`, quoted)
			escaped := strings.ReplaceAll(url.PathEscape(value), ".", "%2E")
			s.run(t, []call{
				{"added", "POST", tags("f"), one, 201, one},
				{"in the list", "GET", tags("f"), "", 200, `{"version":1,"tags":[` + one + `]}`},
				{"found by the filter", "GET", features + "?tag=" + url.QueryEscape("simple:"+value), "", 200, `{"version":2,"features":[{"...":0,"name":"f","tags":[` + one + `]}]}`},
				{"removed", "DELETE", tags("f") + "/simple/" + escaped, "", 200, ""},
				{"no longer in the list", "GET", tags("f"), "", 200, tagged()},
			})
		})
	}
	s.must(t, "POST", tags("f"), `{"type":"simple","value":"a/b"}`)
	s.check(t, call{"slashes that are not escaped", "DELETE", tags("f") + "/simple/a/b", "", 200, ""})
}

func TestTagFilter(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "both", "neither", "one", "two")
	s.must(t, "POST", "/api/admin/tag-types", `{"name":"team"}`)
	for flag, list := range map[string]string{"both": manyTags(2), "one": manyTags(1), "two": `{"type":"team","value":"tag-0"},{"type":"simple","value":"a:b"}`} {
		s.must(t, "PUT", tags(flag), `{"addedTags":[`+list+`],"removedTags":[]}`)
	}
	found := func(names ...string) string {
		for i, name := range names {
			names[i] = fmt.Sprintf(`{"...":0,"name":%q}`, name)
		}
		return `{"version":2,"features":[` + strings.Join(names, ",") + `]}`
	}
	bad := malformed("a type and a value with a colon between them")
	s.run(t, []call{
		{"a tag of one flag", "GET", features + "?tag=simple:tag-1", "", 200, found("both")},
		{"a tag of two flags", "GET", features + "?tag=simple:tag-0", "", 200, found("both", "one")},
		{"a tag of another type", "GET", features + "?tag=team:tag-0", "", 200, found("two")},
		{"either of two", "GET", features + "?tag=simple:tag-1&tag=team:tag-0", "", 200, found("both", "two")},
		{"either of two, one of them unknown", "GET", features + "?tag=simple:tag-1&tag=nosuch:tag-0", "", 200, found("both")},
		{"a colon in the value", "GET", features + "?tag=simple:a:b", "", 200, found("two")},
		{"a tag that no flag has", "GET", features + "?tag=simple:tag-7", "", 200, found()},
		{"as a list", "GET", features + "?tag[]=simple:tag-1&tag%5B%5D=team:tag-0", "", 200, found("both", "two")},
		{"an invalid tag in a list", "GET", features + "?tag[]=tag-0", "", 400, bad},
		{"a prefix of the name", "GET", features + "?namePrefix=o", "", 200, found("one")},
		{"a prefix and a tag", "GET", features + "?namePrefix=t&tag=simple:tag-0", "", 200, found()},
		{"an empty prefix", "GET", features + "?namePrefix=&tag=simple:tag-1", "", 200, found("both")},
		{"no type", "GET", features + "?tag=tag-0", "", 400, bad},
		{"an empty type", "GET", features + "?tag=:tag-0", "", 400, bad},
		{"an empty value", "GET", features + "?tag=simple:", "", 400, bad},
		{"an empty filter", "GET", features + "?tag=", "", 400, bad},
		{"one of two is invalid", "GET", features + "?tag=simple:tag-0&tag=x", "", 400, bad},
		{"invalid UTF-8", "GET", features + "?tag=%FF%FE", "", 400, bad},
		{"a flag without tags does not have the field", "GET", features, "", 200, `{"version":2,"features":[{"...":0,"name":"both"},` +
			listed("neither", row("development"), row("production")) + `,{"...":0,"name":"one"},{"...":0,"name":"two"}]}`},
		{"the project's response has them", "GET", project, "", 200, `{"...":0,"features":[{"...":0,"name":"both"},{"...":0,"name":"neither"},{"...":0,"name":"one","tags":[{"type":"simple","value":"tag-0"}]},{"...":0,"name":"two"}]}`},
		{"clone a flag", "POST", features + "/one/clone", `{"name":"clone"}`, 201, anything},
		{"the clone has no tags", "GET", tags("clone"), "", 200, tagged()},
	})
}

// TestTagTypeInUse deletes a tag type that flags have tags of.
func TestTagTypeInUse(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f")
	s.must(t, "POST", "/api/admin/tag-types", `{"name":"team"}`)
	s.must(t, "PUT", tags("f"), `{"addedTags":[{"type":"team","value":"blue"},{"type":"team","value":"red"},{"type":"simple","value":"mine"}],"removedTags":[]}`)
	s.must(t, "DELETE", "/api/admin/tag-types/team", "")
	s.run(t, []call{
		{"the flag keeps them", "GET", tags("f"), "", 200, tagged("simple:mine", "team:blue", "team:red")},
		{"the list of all tags does not have them", "GET", "/api/admin/tags", "", 200, tagged("simple:mine")},
		{"a tag of the type cannot be added", "POST", tags("f"), `{"type":"team","value":"green"}`, 404, notFound(`"team"`)},
		{"a tag can be removed", "DELETE", tags("f") + "/team/blue", "", 200, ""},
		{"another tag can be removed with PUT", "PUT", tags("f"), `{"addedTags":[],"removedTags":[{"type":"team","value":"red"}]}`, 200, tagged("simple:mine")},
		{"create the type again", "POST", "/api/admin/tag-types", `{"name":"team"}`, 201, anything},
		{"it has no tags", "GET", "/api/admin/tags/team", "", 200, tagged()},
	})
}

func TestParallelTags(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.create(t, "f", "g0", "g1", "g2", "g3", "g4", "g5", "g6", "g7")
	got := s.parallel(t, 60, func(i int) call {
		return call{method: "POST", path: tags("f"), body: fmt.Sprintf(`{"type":"simple","value":"tag-%02d"}`, i)}
	})
	wantStatuses(t, got, map[int]int{201: 30, 400: 30})
	s.wantEvents(t, "f", flags.FeatureTagged, 30)
	list := s.must(t, "GET", tags("f"), "").body
	if n := strings.Count(list, `"value"`); n != 30 {
		t.Errorf("%d tags, want 30: %s", n, list)
	}
	if known := s.must(t, "GET", "/api/admin/tags", "").body; known != list {
		t.Errorf("all tags %s, want those of the flag: %s", known, list)
	}

	got = s.parallel(t, 20, func(int) call {
		return call{method: "PUT", path: tags("f"), body: `{"addedTags":[],"removedTags":[` + manyTags(0) + `]}`}
	})
	wantStatuses(t, got, map[int]int{200: 20})
	got = s.parallel(t, 32, func(i int) call { // eight flags get the same tag, each four times
		return call{method: "POST", path: tags(fmt.Sprintf("g%d", i%8)), body: `{"type":"simple","value":"shared"}`}
	})
	wantStatuses(t, got, map[int]int{201: 32})
	for i := range 8 {
		s.wantEvents(t, fmt.Sprintf("g%d", i), flags.FeatureTagged, 1)
	}
	got = s.parallel(t, 16, func(int) call { return call{method: "DELETE", path: tags("g0") + "/simple/shared"} })
	wantStatuses(t, got, map[int]int{200: 1, 404: 15})
	got = s.parallel(t, 16, func(int) call { return call{method: "POST", path: "/api/admin/tag-types", body: `{"name":"team"}`} })
	wantStatuses(t, got, map[int]int{201: 1, 409: 15})
}

// TestPermissionsWithoutProjectInPath checks operations whose path names a flag and no project. They need the permission in
// the flag's project.
func TestPermissionsWithoutProjectInPath(t *testing.T) {
	t.Parallel()
	count := &counter{}
	s := serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.must(t, "POST", "/api/admin/projects", `{"id":"mine"}`)
	s.must(t, "POST", "/api/admin/projects/mine/features", `{"name":"own"}`)
	s.create(t, "other", "shelved")
	s.must(t, "DELETE", features+"/shelved", "")
	id, member := s.person(t, access.RoleViewer)
	_, viewer := s.person(t, access.RoleViewer)
	_, editor := s.person(t, access.RoleEditor)
	s.must(t, "POST", fmt.Sprintf("/api/admin/projects/mine/users/%d/roles/%d", id, access.RoleMember), "")
	const tag = `{"type":"simple","value":"mine"}`
	refused := failure("NoAccessError", "UPDATE_FEATURE")
	for _, tt := range []struct {
		call
		who string
	}{
		{call{"a member tags", "POST", tags("own"), tag, 201, tag}, member},
		{call{"a member changes tags", "PUT", tags("own"), `{"addedTags":[],"removedTags":[]}`, 200, anything}, member},
		{call{"a member removes a tag", "DELETE", tags("own") + "/simple/mine", "", 200, ""}, member},
		{call{"a member of another project tags", "POST", tags("other"), tag, 403, refused}, member},
		{call{"a member of another project removes a tag", "DELETE", tags("other") + "/simple/mine", "", 403, refused}, member},
		{call{"a member of another project reads tags", "GET", tags("other"), "", 200, anything}, member},
		{call{"a member tags an unknown flag", "POST", tags("nosuch"), tag, 404, notFound(`"nosuch"`)}, member},
		{call{"a viewer tags an unknown flag", "POST", tags("nosuch"), tag, 404, notFound(`"nosuch"`)}, viewer},
		{call{"a viewer tags", "POST", tags("own"), tag, 403, refused}, viewer},
		{call{"rejected before the body is read", "POST", tags("own"), `{`, 403, refused}, viewer},
		{call{"an editor tags in the default project", "POST", tags("other"), tag, 201, tag}, editor},
		{call{"an editor tags in another project", "POST", tags("own"), tag, 403, refused}, editor},
		{call{"a member of another project revives", "POST", "/api/admin/archive/revive/shelved", "", 403, refused}, member},
		{call{"an editor revives in the default project", "POST", "/api/admin/archive/revive/shelved", "", 200, ""}, editor},
	} {
		t.Run(tt.name, func(t *testing.T) { s.check(t, tt.call, tt.who) })
	}
	tagging := count.during(func() { s.check(t, call{"", "POST", tags("own"), tag, 201, tag}, member) })
	if got, want := strings.Join(tagging, " "), "BatchGetItem BatchGetItem TransactWriteItems"; got != want {
		t.Errorf("calls %s, want %s: the project comes with the user", got, want)
	}
	if got := s.events(t, "own"); len(got) != 4 {
		t.Errorf("events %q, want one for each permitted change", got)
	}
}

// TestCreateWithTags creates flags with tags in the body.
func TestCreateWithTags(t *testing.T) {
	t.Parallel()
	s := serve(t)
	var many []string
	for i := range 31 {
		many = append(many, fmt.Sprintf(`{"type":"simple","value":"v%d"}`, i))
	}
	s.run(t, []call{
		{"an unknown type", "POST", features, `{"name":"f","tags":[{"type":"simple","value":"a b"},{"type":"nosuch","value":"x1"}]}`, 400, invalid("/tags/1/type")},
		{"a short value", "POST", features, `{"name":"f","tags":[{"type":"simple","value":"x"}]}`, 400, invalid("/tags/0/value")},
		{"a tag that is not an object", "POST", features, `{"name":"f","tags":["simple:x"]}`, 400, invalid("/tags/0")},
		{"too many tags", "POST", features, `{"name":"f","tags":[` + strings.Join(many, ",") + `]}`, 400, failure("ValidationError", "31 tags")},
		{"none of them was created", "GET", features + "/f", "", 404, notFound(`"f"`)},
		{"tags, one twice", "POST", features, `{"name":"f","tags":[{"type":"simple","value":"b2"},{"type":"simple","value":"a1"},{"type":"simple","value":"b2"}]}`, 201, anything},
		{"the flag has them", "GET", tags("f"), "", 200, tagged("simple:a1", "simple:b2")},
		{"no tags", "POST", features, `{"name":"none","tags":[]}`, 201, anything},
		{"a clone has none", "POST", features + "/f/clone", `{"name":"clone"}`, 201, anything},
		{"of the clone", "GET", tags("clone"), "", 200, tagged()},
		{"the events", "GET", "/api/admin/events?feature=f", "", 200, `{"...":0,"events":[` +
			`{"...":0,"type":"feature-tagged","data":{"tags":[{"type":"simple","value":"a1"},{"type":"simple","value":"b2"}]},"preData":{"tags":[]}},{"...":0,"type":"feature-created"}]}`},
	})
	for flag, want := range map[string][]flags.EventType{"f": {flags.FeatureCreated, flags.FeatureTagged}, "none": {flags.FeatureCreated}, "clone": {flags.FeatureCreated}} {
		if got := s.events(t, flag); !slices.Equal(got, want) {
			t.Errorf("events of %s are %q, want %q", flag, got, want)
		}
	}
}
