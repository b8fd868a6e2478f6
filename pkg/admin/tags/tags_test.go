package tags_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/flags"
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
	s := apitest.Serve(t)
	const types = "/api/admin/tag-types"
	const simple = `{"name":"simple","description":"Labels to find flags by.","icon":"#"}`
	s.Run(t, []apitest.Call{
		{"the built-in type", "GET", types, "", 200, `{"version":1,"tagTypes":[` + simple + `]}`},
		{"one", "GET", types + "/simple", "", 200, `{"version":1,"tagType":` + simple + `}`},
		{"create", "POST", types, `{"name":"team","description":"who","icon":"T"}`, 201, `{"name":"team","description":"who","icon":"T"}`},
		{"create with a name only", "POST", types, `{"name":"plain"}`, 201, `{"name":"plain","description":null,"icon":null}`},
		{"create with nulls", "POST", types, `{"name":"nulls","description":null,"icon":null}`, 201, `{"name":"nulls","description":null,"icon":null}`},
		{"a taken name", "POST", types, `{"name":"team"}`, 409, apitest.Failure("NameExistsError", `"team"`)},
		{"no name", "POST", types, `{}`, 400, apitest.Invalid("/name")},
		{"a name that is too short", "POST", types, `{"name":"a"}`, 400, apitest.Invalid("/name")},
		{"a name with a slash", "POST", types, `{"name":"a/b"}`, 400, apitest.Invalid("/name")},
		{"an icon that is not a string", "POST", types, `{"name":"icon","icon":1}`, 400, apitest.Invalid("/icon")},
		{"changed", "PUT", types + "/team", `{"name":"team","description":"what"}`, 200, ""},
		{"omitted fields stay", "GET", types + "/team", "", 200, `{"version":1,"tagType":{"name":"team","description":"what","icon":"T"}}`},
		{"remove the icon", "PUT", types + "/team", `{"icon":null}`, 200, ""},
		{"the icon is removed", "GET", types + "/team", "", 200, `{"version":1,"tagType":{"name":"team","description":"what","icon":null}}`},
		{"renamed", "PUT", types + "/team", `{"name":"other"}`, 400, apitest.Invalid("/name")},
		{"rename an unknown type: the body is checked first", "PUT", types + "/nosuch", `{"name":"other"}`, 400, apitest.Invalid("/name")},
		{"deleted", "DELETE", types + "/plain", "", 200, ""},
		{"deleted again", "DELETE", types + "/plain", "", 404, apitest.NotFound(`"plain"`)},
		{"all", "GET", types, "", 200, `{"version":1,"tagTypes":[` + simple + `,{"...":0,"name":"team"},{"...":0,"name":"nulls"}]}`},
	})
	s.WantHistoryOf(t, &flags.TagTypes{},
		flags.TagTypeCreated, flags.TagTypeCreated, flags.TagTypeCreated, flags.TagTypeCreated,
		flags.TagTypeUpdated, flags.TagTypeUpdated, flags.TagTypeDeleted)
}

func TestTags(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f", "archived")
	s.Must(t, "POST", "/api/admin/tag-types", `{"name":"team"}`)
	s.Must(t, "POST", tags("archived"), `{"type":"team","value":"old"}`)
	s.Must(t, "DELETE", apitest.Features+"/archived", "")
	s.Run(t, []apitest.Call{
		{"none yet", "GET", tags("f"), "", 200, tagged()},
		{"tagged", "POST", tags("f"), `{"type":"simple","value":"mine"}`, 201, `{"type":"simple","value":"mine"}`},
		{"tagged again", "POST", tags("f"), `{"type":"simple","value":"mine"}`, 201, `{"type":"simple","value":"mine"}`},
		{"in another case", "POST", tags("f"), `{"type":"simple","value":"Mine"}`, 201, apitest.Anything},
		{"spaces are kept", "POST", tags("f"), `{"type":"simple","value":"  a "}`, 201, `{"type":"simple","value":"  a "}`},
		{"of another type", "POST", tags("f"), `{"type":"team","value":"mine"}`, 201, apitest.Anything},
		{"all, in order", "GET", tags("f"), "", 200, tagged("simple:  a ", "simple:Mine", "simple:mine", "team:mine")},
		{"an unknown type", "POST", tags("f"), `{"type":"nosuch","value":"mine"}`, 404, apitest.NotFound(`"nosuch"`)},
		{"an archived flag", "POST", tags("archived"), `{"type":"simple","value":"mine"}`, 404, apitest.NotFound("archived")},
		{"the tags of an archived flag", "GET", tags("archived"), "", 404, apitest.NotFound("archived")},
		{"remove a tag of an archived flag", "DELETE", tags("archived") + "/team/old", "", 404, apitest.NotFound("archived")},
		{"without a type", "POST", tags("f"), `{"value":"mine"}`, 400, apitest.Invalid("/type")},
		{"an empty object", "POST", tags("f"), `{}`, 400, apitest.Invalid("/type", "/value")},
		{"a value that is too short", "POST", tags("f"), `{"type":"simple","value":"a"}`, 400, apitest.Invalid("/value")},
		{"a value that is too long", "POST", tags("f"), `{"type":"simple","value":"` + strings.Repeat("é", 51) + `"}`, 400, apitest.Invalid("/value")},
		{"the longest value", "POST", tags("f"), `{"type":"simple","value":"` + strings.Repeat("é", 50) + `"}`, 201, apitest.Anything},
		{"removed", "DELETE", tags("f") + "/simple/" + strings.Repeat("é", 50), "", 200, ""},
		{"removed again", "DELETE", tags("f") + "/simple/" + strings.Repeat("é", 50), "", 404, apitest.NotFound("no tag")},
		{"remove an empty value", "DELETE", tags("f") + "/simple/", "", 404, apitest.NotFound("no such endpoint")},
		{"the flag has them", "GET", apitest.Features + "/f", "", 200,
			`{"...":0,"tags":[{"type":"simple","value":"  a "},{"type":"simple","value":"Mine"},{"type":"simple","value":"mine"},{"type":"team","value":"mine"}]}`},
		{"all tags", "GET", "/api/admin/tags", "", 200,
			tagged("simple:  a ", "simple:Mine", "simple:mine", "team:mine", "team:old")},
		{"a page of them", "GET", "/api/admin/tags?offset=1&limit=2", "", 200, tagged("simple:Mine", "simple:mine")},
		{"the last page", "GET", "/api/admin/tags?offset=4&limit=2", "", 200, tagged("team:old")},
		{"past the last page", "GET", "/api/admin/tags?offset=7", "", 200, tagged()},
		{"a limit of 0 is the default", "GET", "/api/admin/tags?limit=0&offset=4", "", 200, tagged("team:old")},
		{"a page of a type", "GET", "/api/admin/tags/team?limit=1", "", 200, tagged("team:mine")},
		{"all tags of a type", "GET", "/api/admin/tags/team", "", 200, tagged("team:mine", "team:old")},
	})
	s.WantHistory(t, "f",
		flags.FeatureCreated, flags.FeatureTagged, flags.FeatureTagged, flags.FeatureTagged, flags.FeatureTagged, flags.FeatureTagged, flags.FeatureUntagged)
}

// TestUnusedTagsAreNotListed checks that the list of all tags has those of active and archived flags, and no others.
func TestUnusedTagsAreNotListed(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Projects, `{"id":"other"}`)
	s.Create(t, "one", "two", "old")
	s.Must(t, "POST", apitest.Projects+"/other/features", `{"name":"three"}`)
	for flag, values := range map[string]string{"one": "a b", "two": "b", "old": "c", "three": "b d"} {
		for _, value := range strings.Fields(values) {
			s.Must(t, "POST", tags(flag), fmt.Sprintf(`{"type":"simple","value":"%s%s"}`, value, value))
		}
	}
	s.Must(t, "DELETE", apitest.Features+"/old", "")
	all := func(name string, values ...string) apitest.Call {
		return apitest.Call{name, "GET", "/api/admin/tags", "", 200, tagged(values...)}
	}
	s.Run(t, []apitest.Call{
		all("tags of all projects and of archived flags", "simple:aa", "simple:bb", "simple:cc", "simple:dd"),
		{"remove it from one flag", "DELETE", tags("one") + "/simple/bb", "", 200, ""},
		all("another flag has it", "simple:aa", "simple:bb", "simple:cc", "simple:dd"),
		{"remove it from the only flag", "PUT", tags("one"), `{"addedTags":[{"type":"simple","value":"ee"}],"removedTags":[{"type":"simple","value":"aa"}]}`, 200, apitest.Anything},
		all("no longer listed", "simple:bb", "simple:cc", "simple:dd", "simple:ee"),
		{"revived", "POST", "/api/admin/archive/revive/old", "", 200, ""},
		{"remove the tag of the revived flag", "DELETE", tags("old") + "/simple/cc", "", 200, ""},
		all("its tag is no longer listed", "simple:bb", "simple:dd", "simple:ee"),
		{"of the type", "GET", "/api/admin/tags/simple", "", 200, tagged("simple:bb", "simple:dd", "simple:ee")},
	})
}

func TestChangeTags(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	s.Must(t, "POST", tags("f"), `{"type":"simple","value":"old"}`)
	s.Run(t, []apitest.Call{
		{"added and removed", "PUT", tags("f"), `{"addedTags":[{"type":"simple","value":"n1"},{"type":"simple","value":"n2"}],"removedTags":[{"type":"simple","value":"old"}]}`, 200, tagged("simple:n1", "simple:n2")},
		{"a tag to remove without a value", "PUT", tags("f"), `{"addedTags":[],"removedTags":[{"type":"simple"}]}`, 400, apitest.Invalid("/removedTags/0/value")},
		{"add an existing tag, remove a missing tag", "PUT", tags("f"), `{"addedTags":[{"type":"simple","value":"n1"}],"removedTags":[{"type":"nosuch","value":"xx"}]}`, 200, tagged("simple:n1", "simple:n2")},
		{"nothing", "PUT", tags("f"), `{"addedTags":[],"removedTags":[]}`, 200, tagged("simple:n1", "simple:n2")},
		{"only removed", "PUT", tags("f"), `{"addedTags":[],"removedTags":[{"type":"simple","value":"n1"}]}`, 200, tagged("simple:n2")},
	})
	s.Unchanged(t, "f", []apitest.Call{
		{"an empty object", "PUT", tags("f"), `{}`, 400, apitest.Invalid("/addedTags", "/removedTags")},
		{"without removals", "PUT", tags("f"), `{"addedTags":[]}`, 400, apitest.Invalid("/removedTags")},
		{"not a list", "PUT", tags("f"), `{"addedTags":{},"removedTags":[]}`, 400, apitest.Invalid("/addedTags")},
		{"an invalid tag", "PUT", tags("f"), `{"addedTags":[{"type":"simple","value":"ok"},{"type":"simple","value":"x"}],"removedTags":[]}`, 400, apitest.Invalid("/addedTags/1/value")},
		{"a tag in both lists", "PUT", tags("f"), `{"addedTags":[{"type":"simple","value":"ok"}],"removedTags":[{"type":"simple","value":"n2"},{"type":"simple","value":"ok"}]}`, 400, apitest.Invalid("/removedTags/1")},
		{"an unknown type", "PUT", tags("f"), `{"addedTags":[{"type":"simple","value":"ok"},{"type":"nosuch","value":"ok"}],"removedTags":[{"type":"simple","value":"n2"}]}`, 404, apitest.NotFound(`"nosuch"`)},
		{"above the limit", "PUT", tags("f"), `{"addedTags":[` + manyTags(30) + `],"removedTags":[]}`, 400, apitest.Malformed("no more than 30")},
		{"more than one request can add", "PUT", tags("f"), `{"addedTags":[` + manyTags(91) + `],"removedTags":[]}`, 400, apitest.Invalid("/addedTags")},
	})
	s.Check(t, apitest.Call{"up to the limit", "PUT", tags("f"), `{"addedTags":[` + manyTags(29) + `],"removedTags":[]}`, 200, apitest.Anything})
	s.Check(t, apitest.Call{"one tag above the limit", "POST", tags("f"), `{"type":"simple","value":"more"}`, 400, apitest.Malformed("no more than 30")})
	want := []flags.EventType{flags.FeatureCreated, flags.FeatureTagged, flags.FeatureTagged, flags.FeatureUntagged, flags.FeatureTagged}
	if got := s.Events(t, "f"); !slices.Equal(got, want) {
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
	s := apitest.Serve(t)
	s.Create(t, "f")
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
			s.Run(t, []apitest.Call{
				{"added", "POST", tags("f"), one, 201, one},
				{"in the list", "GET", tags("f"), "", 200, `{"version":1,"tags":[` + one + `]}`},
				{"found by the filter", "GET", apitest.Features + "?tag=" + url.QueryEscape("simple:"+value), "", 200, `{"version":2,"features":[{"...":0,"name":"f","tags":[` + one + `]}]}`},
				{"removed", "DELETE", tags("f") + "/simple/" + escaped, "", 200, ""},
				{"no longer in the list", "GET", tags("f"), "", 200, tagged()},
			})
		})
	}
	s.Must(t, "POST", tags("f"), `{"type":"simple","value":"a/b"}`)
	s.Check(t, apitest.Call{"slashes that are not escaped", "DELETE", tags("f") + "/simple/a/b", "", 200, ""})
}

func TestTagFilter(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "both", "neither", "one", "two")
	s.Must(t, "POST", "/api/admin/tag-types", `{"name":"team"}`)
	for flag, list := range map[string]string{"both": manyTags(2), "one": manyTags(1), "two": `{"type":"team","value":"tag-0"},{"type":"simple","value":"a:b"}`} {
		s.Must(t, "PUT", tags(flag), `{"addedTags":[`+list+`],"removedTags":[]}`)
	}
	found := func(names ...string) string {
		for i, name := range names {
			names[i] = fmt.Sprintf(`{"...":0,"name":%q}`, name)
		}
		return `{"version":2,"features":[` + strings.Join(names, ",") + `]}`
	}
	bad := apitest.Malformed("a type and a value with a colon between them")
	s.Run(t, []apitest.Call{
		{"a tag of one flag", "GET", apitest.Features + "?tag=simple:tag-1", "", 200, found("both")},
		{"a tag of two flags", "GET", apitest.Features + "?tag=simple:tag-0", "", 200, found("both", "one")},
		{"a tag of another type", "GET", apitest.Features + "?tag=team:tag-0", "", 200, found("two")},
		{"either of two", "GET", apitest.Features + "?tag=simple:tag-1&tag=team:tag-0", "", 200, found("both", "two")},
		{"either of two, one of them unknown", "GET", apitest.Features + "?tag=simple:tag-1&tag=nosuch:tag-0", "", 200, found("both")},
		{"a colon in the value", "GET", apitest.Features + "?tag=simple:a:b", "", 200, found("two")},
		{"a tag that no flag has", "GET", apitest.Features + "?tag=simple:tag-7", "", 200, found()},
		{"as a list", "GET", apitest.Features + "?tag[]=simple:tag-1&tag%5B%5D=team:tag-0", "", 200, found("both", "two")},
		{"an invalid tag in a list", "GET", apitest.Features + "?tag[]=tag-0", "", 400, bad},
		{"a prefix of the name", "GET", apitest.Features + "?namePrefix=o", "", 200, found("one")},
		{"a prefix and a tag", "GET", apitest.Features + "?namePrefix=t&tag=simple:tag-0", "", 200, found()},
		{"an empty prefix", "GET", apitest.Features + "?namePrefix=&tag=simple:tag-1", "", 200, found("both")},
		{"no type", "GET", apitest.Features + "?tag=tag-0", "", 400, bad},
		{"an empty type", "GET", apitest.Features + "?tag=:tag-0", "", 400, bad},
		{"an empty value", "GET", apitest.Features + "?tag=simple:", "", 400, bad},
		{"an empty filter", "GET", apitest.Features + "?tag=", "", 400, bad},
		{"one of two is invalid", "GET", apitest.Features + "?tag=simple:tag-0&tag=x", "", 400, bad},
		{"invalid UTF-8", "GET", apitest.Features + "?tag=%FF%FE", "", 400, bad},
		{"a flag without tags does not have the field", "GET", apitest.Features, "", 200, `{"version":2,"features":[{"...":0,"name":"both"},` +
			apitest.Listed("neither", apitest.Row("development"), apitest.Row("production")) + `,{"...":0,"name":"one"},{"...":0,"name":"two"}]}`},
		{"the project's response has them", "GET", apitest.Project, "", 200, `{"...":0,"features":[{"...":0,"name":"both"},{"...":0,"name":"neither"},{"...":0,"name":"one","tags":[{"type":"simple","value":"tag-0"}]},{"...":0,"name":"two"}]}`},
		{"clone a flag", "POST", apitest.Features + "/one/clone", `{"name":"clone"}`, 201, apitest.Anything},
		{"the clone has no tags", "GET", tags("clone"), "", 200, tagged()},
	})
}

// TestTagTypeInUse deletes a tag type that flags have tags of.
func TestTagTypeInUse(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	s.Must(t, "POST", "/api/admin/tag-types", `{"name":"team"}`)
	s.Must(t, "PUT", tags("f"), `{"addedTags":[{"type":"team","value":"blue"},{"type":"team","value":"red"},{"type":"simple","value":"mine"}],"removedTags":[]}`)
	s.Must(t, "DELETE", "/api/admin/tag-types/team", "")
	s.Run(t, []apitest.Call{
		{"the flag keeps them", "GET", tags("f"), "", 200, tagged("simple:mine", "team:blue", "team:red")},
		{"the list of all tags does not have them", "GET", "/api/admin/tags", "", 200, tagged("simple:mine")},
		{"a tag of the type cannot be added", "POST", tags("f"), `{"type":"team","value":"green"}`, 404, apitest.NotFound(`"team"`)},
		{"a tag can be removed", "DELETE", tags("f") + "/team/blue", "", 200, ""},
		{"another tag can be removed with PUT", "PUT", tags("f"), `{"addedTags":[],"removedTags":[{"type":"team","value":"red"}]}`, 200, tagged("simple:mine")},
		{"create the type again", "POST", "/api/admin/tag-types", `{"name":"team"}`, 201, apitest.Anything},
		{"it has no tags", "GET", "/api/admin/tags/team", "", 200, tagged()},
	})
}

func TestParallelTags(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f", "g0", "g1", "g2", "g3", "g4", "g5", "g6", "g7")
	s.WantParallel(t, map[int]int{201: 30, 400: 30}, 60, func(i int) apitest.Call {
		return apitest.Call{Method: "POST", Path: tags("f"), Body: fmt.Sprintf(`{"type":"simple","value":"tag-%02d"}`, i)}
	})
	s.WantEvents(t, "f", flags.FeatureTagged, 30)
	list := s.Must(t, "GET", tags("f"), "").Body
	if n := strings.Count(list, `"value"`); n != 30 {
		t.Errorf("%d tags, want 30: %s", n, list)
	}
	if known := s.Must(t, "GET", "/api/admin/tags", "").Body; known != list {
		t.Errorf("all tags %s, want those of the flag: %s", known, list)
	}

	s.WantParallel(t, map[int]int{200: 20}, 20, func(int) apitest.Call {
		return apitest.Call{Method: "PUT", Path: tags("f"), Body: `{"addedTags":[],"removedTags":[` + manyTags(0) + `]}`}
	})
	s.WantParallel(t, map[int]int{201: 32}, 32, func(i int) apitest.Call { // eight flags get the same tag, each four times
		return apitest.Call{Method: "POST", Path: tags(fmt.Sprintf("g%d", i%8)), Body: `{"type":"simple","value":"shared"}`}
	})
	for i := range 8 {
		s.WantEvents(t, fmt.Sprintf("g%d", i), flags.FeatureTagged, 1)
	}
	s.WantParallel(t, map[int]int{200: 1, 404: 15}, 16, func(int) apitest.Call { return apitest.Call{Method: "DELETE", Path: tags("g0") + "/simple/shared"} })
	s.WantParallel(t, map[int]int{201: 1, 409: 15}, 16, func(int) apitest.Call {
		return apitest.Call{Method: "POST", Path: "/api/admin/tag-types", Body: `{"name":"team"}`}
	})
}

// TestCreateWithTags creates flags with tags in the body.
func TestCreateWithTags(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	var many []string
	for i := range 31 {
		many = append(many, fmt.Sprintf(`{"type":"simple","value":"v%d"}`, i))
	}
	s.Run(t, []apitest.Call{
		{"an unknown type", "POST", apitest.Features, `{"name":"f","tags":[{"type":"simple","value":"a b"},{"type":"nosuch","value":"x1"}]}`, 400, apitest.Invalid("/tags/1/type")},
		{"a short value", "POST", apitest.Features, `{"name":"f","tags":[{"type":"simple","value":"x"}]}`, 400, apitest.Invalid("/tags/0/value")},
		{"a tag that is not an object", "POST", apitest.Features, `{"name":"f","tags":["simple:x"]}`, 400, apitest.Invalid("/tags/0")},
		{"too many tags", "POST", apitest.Features, `{"name":"f","tags":[` + strings.Join(many, ",") + `]}`, 400, apitest.Failure("ValidationError", "31 tags")},
		{"none of them was created", "GET", apitest.Features + "/f", "", 404, apitest.NotFound(`"f"`)},
		{"tags, one twice", "POST", apitest.Features, `{"name":"f","tags":[{"type":"simple","value":"b2"},{"type":"simple","value":"a1"},{"type":"simple","value":"b2"}]}`, 201, apitest.Anything},
		{"the flag has them", "GET", tags("f"), "", 200, tagged("simple:a1", "simple:b2")},
		{"no tags", "POST", apitest.Features, `{"name":"none","tags":[]}`, 201, apitest.Anything},
		{"a clone has none", "POST", apitest.Features + "/f/clone", `{"name":"clone"}`, 201, apitest.Anything},
		{"of the clone", "GET", tags("clone"), "", 200, tagged()},
		{"the events", "GET", "/api/admin/events?feature=f", "", 200, `{"...":0,"events":[` +
			`{"...":0,"type":"feature-tagged","data":{"tags":[{"type":"simple","value":"a1"},{"type":"simple","value":"b2"}]},"preData":{"tags":[]}},{"...":0,"type":"feature-created"}]}`},
	})
	for flag, want := range map[string][]flags.EventType{"f": {flags.FeatureCreated, flags.FeatureTagged}, "none": {flags.FeatureCreated}, "clone": {flags.FeatureCreated}} {
		if got := s.Events(t, flag); !slices.Equal(got, want) {
			t.Errorf("events of %s are %q, want %q", flag, got, want)
		}
	}
}

func TestReadTag(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "f")
	s.Must(t, "POST", "/api/admin/features/f/tags", `{"type":"simple","value":"a/b c"}`)
	const tags = "/api/admin/tags/"
	s.Run(t, []apitest.Call{
		{"an existing tag", "GET", tags + "simple/a%2Fb%20c", "", 200, `{"version":1,"tag":{"type":"simple","value":"a/b c"}}`},
		{"not encoded", "GET", tags + "simple/a/b%20c", "", 200, apitest.Anything},
		{"no such tag", "GET", tags + "simple/nosuch", "", 404, apitest.NotFound("nosuch")},
		{"longer than a tag can be", "GET", tags + "simple/" + strings.Repeat("v", 3000), "", 404, apitest.Anything},
		{"the list of the type", "GET", tags + "simple", "", 200, `{"version":1,"tags":[{"type":"simple","value":"a/b c"}]}`},
	})
}

func TestValidateTagType(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	const path = "/api/admin/tag-types/validate"
	s.Run(t, []apitest.Call{
		{"an unused name", "POST", path, `{"name":"team","description":"d","icon":"#"}`, 200,
			`{"valid":true,"tagType":{"name":"team","description":"d","icon":"#"}}`},
		{"it is not created", "GET", "/api/admin/tag-types/team", "", 404, apitest.Anything},
		{"a taken name", "POST", path, `{"name":"simple"}`, 409, apitest.Failure("NameExistsError", "simple")},
		{"no name", "POST", path, `{}`, 400, apitest.Anything},
		{"an invalid name", "POST", path, `{"name":"a b/c"}`, 400, apitest.Anything},
		{"a GET reads no type called validate", "GET", path, "", 404, apitest.Anything},
	})
	s.Check(t, apitest.Call{"a viewer", "POST", path, `{"name":"team"}`, 200, apitest.Anything}, apitest.As(s.Account(t, "3", nil)))
}
