package features_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"guidon/pkg/apitest"
	"guidon/pkg/httpapi"
)

// page reads a page of a list of flags.
func page(t *testing.T, s *apitest.Server, path string, query url.Values) (page apitest.FlagPage) {
	t.Helper()
	apitest.DecodeInto(t, s.Must(t, "GET", path+"?"+query.Encode(), "").Body, &page)
	return page
}

// TestPagesOfFlags reads lists of flags in pages, by cursor. Together the pages have the whole list, in its order.
func TestPagesOfFlags(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Projects, `{"id":"other"}`)
	names := strings.Fields("A a a-b a.b a_b aa ab b b1 b10 b2 ~z")
	s.Create(t, names...)
	for _, name := range []string{"a-b", "b1", "~z"} {
		s.Must(t, "POST", "/api/admin/features/"+name+"/tags", `{"type":"simple","value":"mine"}`)
	}
	for i := range 7 { // archived, in two projects
		in := []string{"default", "other"}[i%2]
		s.Must(t, "POST", apitest.Projects+"/"+in+"/features", fmt.Sprintf(`{"name":"old-%d"}`, i))
		s.Must(t, "DELETE", apitest.Projects+"/"+in+"/features/"+fmt.Sprintf("old-%d", i), "")
	}
	for _, tt := range []struct {
		name, path, query string
	}{
		{"flags of a project", apitest.Features, ""},
		{"flags with a prefix", apitest.Features, "namePrefix=a"},
		{"flags with a tag", apitest.Features, "tag=simple:mine"},
		{"flags with a tag and a prefix", apitest.Features, "tag=simple:mine&namePrefix=b"},
		{"archived flags of a project", "/api/admin/archive/features/default", ""},
		{"archived flags of all projects", "/api/admin/archive/features", ""},
	} {
		filter, _ := url.ParseQuery(tt.query)
		whole := page(t, s, tt.path, filter)
		want := whole.Names()
		if len(want) == 0 || !slices.IsSorted(want) || whole.Next != "" {
			t.Fatalf("%s: the whole list is %v with next %q, want a sorted list without next", tt.name, want, whole.Next)
		}
		for size := 1; size <= len(want)+1; size++ {
			query, got := url.Values{"limit": {fmt.Sprint(size)}}, []string{}
			for k, v := range filter {
				query[k] = v
			}
			for pages := 0; ; pages++ {
				page := page(t, s, tt.path, query)
				got = append(got, page.Names()...)
				if len(page.Features) > size || pages > len(want) || page.Next != "" && len(page.Features) != size {
					t.Fatalf("%s, limit %d: page %d has %v and next %q", tt.name, size, pages, page.Names(), page.Next)
				}
				if page.Next == "" {
					break
				}
				query.Set("cursor", page.Next)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, limit %d: the pages have %v, want %v", tt.name, size, got, want)
			}
		}
	}
}

// TestCursors sends cursors that are not the next of a page.
func TestCursors(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "a", "b", "c")
	for _, path := range []string{apitest.Features, "/api/admin/archive/features/default", "/api/admin/archive/features"} {
		for _, cursor := range []string{"a/b", "a b", "..", "\xff", "FLAG#a", strings.Repeat("a", 101)} {
			s.Check(t, apitest.Call{"the cursor " + cursor, "GET", path + "?cursor=" + url.QueryEscape(cursor), "", 400, apitest.Failure("ValidationError", "cursor")})
		}
	}
	for _, query := range []string{"limit=many", "offset=x", "cursor=a&limit=one"} {
		s.Check(t, apitest.Call{query, "GET", apitest.Features + "?" + query, "", 400, apitest.Failure("ValidationError", "must be a whole number, not")})
	}
	for query, want := range map[string]string{
		"cursor=":                  "a b c",
		"cursor=a":                 "b c",
		"cursor=aa":                "b c", // a flag of this name need not exist
		"cursor=c":                 "",
		"cursor=~":                 "",
		"cursor=a&offset=1":        "b c", // an offset is ignored
		"cursor=a&limit=1":         "b",
		"cursor=a&limit=0":         "b c",
		"limit=1&offset=1":         "b",
		"offset=1":                 "b c",
		"offset=1073741824":        "",
		"namePrefix=a%2F":          "",
		"namePrefix=a&cursor=b":    "",
		"namePrefix=c&cursor=a":    "c",
		"namePrefix=%00&limit=1":   "",
		"limit=10000&cursor=a":     "b c",
		"limit=1&offset=5&cursor=": "a",
	} {
		filter, _ := url.ParseQuery(query)
		if got := strings.Join(page(t, s, apitest.Features, filter).Names(), " "); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// TestPagesReadOnlyTheirRows counts the calls and bytes of a page in a short and in a long list.
func TestPagesReadOnlyTheirRows(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	s.Unchecked = true // copied items have the same IDs
	s.Must(t, "POST", apitest.Environments, `{"name":"stage","type":"test"}`)
	s.Must(t, "POST", apitest.Projects, `{"id":"many","environments":["stage"]}`)
	manyFlags(t, s, 2_000)
	const list = apitest.Projects + "/many/features"
	s.Must(t, "GET", list+"?limit=1", "") // an instance learns whose favorites a token has with its first request
	read := func(query string) int {
		calls, bytes := count.Cost(func() { s.Must(t, "GET", list+query, "") })
		if calls != "BatchGetItem Query" {
			t.Errorf("%q: calls %s, want 2 for each page and for the whole list", query, calls)
		}
		return bytes
	}
	first, later, whole := read("?limit=10"), read("?limit=10&cursor=f01500"), read("")
	if later > first*11/10 || whole < 20*first {
		t.Errorf("the store sent %d bytes for the first page, %d for a later one and %d for the whole list; a page should read its own rows only",
			first, later, whole)
	}
}
