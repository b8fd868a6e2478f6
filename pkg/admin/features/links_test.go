package features_test

import (
	"fmt"
	"strings"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/flags"
)

// TestOwner sets the owner of a flag in every way, and finds the flag by it.
func TestOwner(t *testing.T) {
	t.Parallel()
	const flag, search = apitest.Features + "/f", "/api/admin/search/features?owner="
	s := apitest.Serve(t)
	owned := func(by string) string { return fmt.Sprintf(`{"...":0,"name":"f","owner":%q}`, by) }
	s.Create(t, "nobodys")
	s.Run(t, []apitest.Call{
		{"create", "POST", apitest.Features, `{"name":"f","owner":"Team Checkout"}`, 201, owned("Team Checkout")},
		{"read", "GET", flag, "", 200, owned("Team Checkout")},
		{"keep", "PUT", flag, `{"description":"d"}`, 200, owned("Team Checkout")},
		{"list", "GET", apitest.Features + "?namePrefix=f", "", 200, `{"...":0,"features":[` + owned("Team Checkout") + `]}`},
		{"find", "GET", search + "IS:Team+Checkout", "", 200, `{"...":0,"total":1,"features":[` + owned("Team Checkout") + `]}`},
		{"find others", "GET", search + "IS_NOT:Team+Checkout", "", 200, `{"...":0,"total":1,"features":[{"...":0,"name":"nobodys"}]}`},
		{"put", "PUT", flag, `{"owner":"ann@example.com"}`, 200, owned("ann@example.com")},
		{"clone", "POST", flag + "/clone", `{"name":"g"}`, 201, `{"...":0,"name":"g","owner":"ann@example.com"}`},
		{"patch", "PATCH", flag, `[{"op":"replace","path":"/owner","value":"Ann"}]`, 200, owned("Ann")},
		{"the event", "GET", "/api/admin/events/f?limit=1", "", 200, `{"...":0,"events":[{"...":0,"type":"feature-metadata-updated",
			"data":{"...":0,"owner":"Ann"},"preData":{"...":0,"owner":"ann@example.com"}}]}`},
		{"none", "PUT", flag, `{"owner":null}`, 200, apitest.Created("f", `"description":"d"`)},
		{"patch one without", "PATCH", flag, `[{"op":"replace","path":"/owner","value":"Ann"}]`, 200, owned("Ann")},
		{"remove", "PATCH", flag, `[{"op":"remove","path":"/owner"}]`, 200, apitest.Created("f", `"description":"d"`)},
		{"too long", "PUT", flag, `{"owner":"` + strings.Repeat("x", 256) + `"}`, 400, apitest.Invalid("/owner")},
		{"a line break", "POST", apitest.Features, `{"name":"h","owner":"a\nb"}`, 400, apitest.Invalid("/owner")},
		{"no text", "PUT", flag, `{"owner":{"userId":1}}`, 400, apitest.Invalid("/owner")},
	})
}

// TestLinks adds, changes and removes links of a flag.
func TestLinks(t *testing.T) {
	t.Parallel()
	const flag = apitest.Features + "/f"
	s := apitest.Serve(t)
	s.Create(t, "f", "g")
	id := apitest.AddLink(t, s, flag)
	one := flag + "/link/" + id
	links := func(list string) string { return `{"...":0,"links":[` + strings.ReplaceAll(list, "{id}", id) + `]}` }
	event := func(kind, data, before string) string {
		return strings.ReplaceAll(fmt.Sprintf(`{"...":0,"events":[{"...":0,"type":"feature-link-%s","data":%s,"preData":%s}]}`, kind, data, before), "{id}", id)
	}
	const first, second = `{"id":"{id}","url":"https://example.com/1","title":"One"}`, `{"id":"{id}","url":"HTTP://example.com?a=b#c","title":null}`
	s.Run(t, []apitest.Call{
		{"added", "GET", flag, "", 200, links(first)},
		{"its event", "GET", "/api/admin/events/f?limit=1", "", 200, event("added", first, "null")},
		{"change", "PUT", one, `{"url":"HTTP://example.com?a=b#c"}`, 204, ""},
		{"change again", "PUT", one, `{"url":"HTTP://example.com?a=b#c","title":null}`, 204, ""},
		{"changed", "GET", flag, "", 200, links(second)},
		{"the event of the change", "GET", "/api/admin/events/f?limit=1", "", 200, event("updated", second, first)},
		{"of another flag", "PUT", apitest.Features + "/g/link/" + id, `{"url":"https://example.com"}`, 404, apitest.NotFound(`"g"`)},
		{"unknown", "DELETE", flag + "/link/nosuch", "", 404, apitest.NotFound(`"f"`)},
		{"clone", "POST", flag + "/clone", `{"name":"copy"}`, 201, apitest.Anything},
		{"a clone has none", "GET", apitest.Features + "/copy", "", 200, `{"...":0,"links":[]}`},
		{"remove", "DELETE", one, "", 204, ""},
		{"removed", "GET", flag, "", 200, links("")},
		{"the event of the removal", "GET", "/api/admin/events/f?limit=1", "", 200, event("removed", "null", second)},
		{"removed already", "DELETE", one, "", 404, apitest.NotFound(`"f"`)},
	})
	for name, body := range map[string]string{
		"no URL": `{}`, "a script": `{"url":"javascript:alert(1)"}`, "a path": `{"url":"/x"}`, "no host": `{"url":"https:///x"}`, "a space": `{"url":"https://example.com/a b"}`,
		"another scheme": `{"url":"ftp://example.com"}`, "a long one": `{"url":"https://example.com/` + strings.Repeat("x", flags.MaxURL) + `"}`,
	} {
		s.Check(t, apitest.Call{name, "POST", flag + "/link", body, 400, apitest.Invalid("/url")})
	}
	s.Check(t, apitest.Call{"a long title", "POST", flag + "/link", `{"url":"https://example.com","title":"` + strings.Repeat("x", 256) + `"}`, 400, apitest.Invalid("/title")})
	for range flags.MaxLinks {
		apitest.AddLink(t, s, flag)
	}
	s.Check(t, apitest.Call{"too many", "POST", flag + "/link", `{"url":"https://example.com"}`, 400, apitest.Failure("ValidationError", "no more than 20 are allowed")})
}

// TestComments adds comments, which are only in the history of the flag.
func TestComments(t *testing.T) {
	t.Parallel()
	const comments = apitest.Features + "/f/comments"
	s := apitest.Serve(t)
	s.Create(t, "f")
	before := s.Must(t, "GET", apitest.Features+"/f", "").Body
	s.Run(t, []apitest.Call{
		{"add", "POST", comments, `{"text":"On for everyone.\nSince Monday."}`, 204, ""},
		{"add another", "POST", comments, `{"text":"On for everyone.\nSince Monday."}`, 204, ""},
		{"read", "GET", "/api/admin/search/events?feature=IS:f&type=IS:feature-comment-added", "", 200,
			`{"...":0,"totalEvents":2,"events":[{"...":0,"featureName":"f","project":"default","data":{"text":"On for everyone.\nSince Monday."},"preData":null},{"...":0}]}`},
		{"empty", "POST", comments, `{"text":" "}`, 400, apitest.Invalid("/text")},
		{"too long", "POST", comments, `{"text":"` + strings.Repeat("x", 1001) + `"}`, 400, apitest.Invalid("/text")},
		{"the flag is the same", "GET", apitest.Features + "/f", "", 200, before},
		{"archive", "DELETE", apitest.Features + "/f", "", 202, ""},
		{"an archived flag", "POST", comments, `{"text":"x"}`, 404, apitest.NotFound("archived")},
	})
}
