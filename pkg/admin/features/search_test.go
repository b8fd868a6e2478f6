package features_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	flagsearch "guidon/pkg/admin/features"
	"guidon/pkg/apitest"
)

// A searchPage is a page of search results.
type searchPage struct {
	Total    int
	Features []struct {
		Name, Project  string
		Favorite       bool
		Segments       []string
		DependencyType *string
	}
}

func search(t *testing.T, s *apitest.Server, query string) (names []string, page searchPage) {
	t.Helper()
	apitest.DecodeInto(t, s.Must(t, "GET", "/api/admin/search/features?"+query, "").Body, &page)
	names = []string{}
	for _, f := range page.Features {
		names = append(names, f.Name)
	}
	return names, page
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.CreateFullFlag(t) // parent, and full: kill-switch, on in development, tagged, with the segment testers
	s.Must(t, "POST", "/api/admin/projects", `{"id":"shop"}`)
	s.Must(t, "POST", "/api/admin/projects/shop/features", `{"name":"Basket"}`)
	s.Must(t, "PATCH", "/api/admin/projects/shop/features/Basket", `[{"op":"replace","path":"/stale","value":true}]`)
	s.Must(t, "POST", apitest.Features+"/parent/favorites", "")
	s.Must(t, "POST", apitest.Features, `{"name":"gone"}`)
	s.Must(t, "DELETE", apitest.Features+"/gone", "")

	for _, tt := range []struct {
		name, query string
		want        []string
	}{
		{"everything, oldest first", "", []string{"parent", "full", "Basket"}},
		{"text in a name, in any case", "query=baSK", []string{"Basket"}},
		{"one of several texts", "query=full,%20basket", []string{"full", "Basket"}},
		{"text in a tag", "query=core", []string{"full"}},
		{"text that no flag has", "query=nosuch", []string{}},
		{"a project", "project=IS:shop", []string{"Basket"}},
		{"other projects", "project=IS_NOT:shop", []string{"parent", "full"}},
		{"several projects", "project=IS_ANY_OF:shop,default", []string{"parent", "full", "Basket"}},
		{"an unknown project", "project=IS:nosuch", []string{}},
		{"stale flags", "state=IS:stale", []string{"Basket"}},
		{"active flags", "state=IS_NONE_OF:stale", []string{"parent", "full"}},
		{"a type", "type=IS:kill-switch", []string{"full"}},
		{"types as a list", "type[]=kill-switch&type[]=experiment", []string{"full"}},
		{"a tag", "tag=INCLUDE:team:core", []string{"full"}},
		{"all of several tags", "tag=INCLUDE_ALL_OF:team:core,simple:old/one", []string{"full"}},
		{"all of several tags, which no flag has", "tag=INCLUDE_ALL_OF:team:core,simple:nosuch", []string{}},
		{"without a tag", "tag=DO_NOT_INCLUDE:team:core", []string{"parent", "Basket"}},
		{"a segment", "segment=INCLUDE:testers", []string{"full"}},
		{"without a segment", "segment=EXCLUDE_IF_ANY_OF:testers,nosuch", []string{"parent", "Basket"}},
		{"a state in an environment", "status[]=development:enabled", []string{"full"}},
		{"one of several states", "status[]=development:enabled&status[]=production:disabled", []string{"parent", "full", "Basket"}},
		{"a stage", "lifecycle=IS:initial", []string{"parent", "full", "Basket"}},
		{"created since", "createdAt=IS_ON_OR_AFTER:2020-01-01", []string{"parent", "full", "Basket"}},
		{"created before", "createdAt=IS_BEFORE:2020-01-01", []string{}},
		{"several filters", "type=IS:release&state=IS:active", []string{"parent"}},
		{"by name, descending", "sortBy=name&sortOrder=desc", []string{"parent", "full", "Basket"}},
		{"by type", "sortBy=type", []string{"full", "Basket", "parent"}},
		{"by an environment", "sortBy=environment:development&sortOrder=desc", []string{"full", "Basket", "parent"}},
		{"favorites first", "favoritesFirst=true&sortBy=name", []string{"parent", "Basket", "full"}},
		{"a page", "limit=1&offset=1", []string{"full"}},
		{"a limit of 0 is the default", "limit=0&sortBy=name", []string{"Basket", "full", "parent"}},
		{"a limit that is too high is the default", "limit=101&sortBy=name", []string{"Basket", "full", "parent"}},
		{"a limit that is no whole number is the default", "limit=1.5&sortBy=name", []string{"Basket", "full", "parent"}},
		{"an offset below 0 is 0", "offset=-1&sortBy=name", []string{"Basket", "full", "parent"}},
		{"an unknown order is ascending", "sortBy=name&sortOrder=up", []string{"Basket", "full", "parent"}},
		{"an unknown sort field is the default", "sortBy=color", []string{"parent", "full", "Basket"}},
		{"an unknown environment is the default", "sortBy=environment:nosuch", []string{"parent", "full", "Basket"}},
		{"unknown filters are ignored", "color=IS:red&limit=1&sortBy=name", []string{"Basket"}},
		{"past the end", "offset=7", []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := search(t, s, tt.query)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("?%s (-want +got):\n%s", tt.query, diff)
			}
		})
	}
	if _, page := search(t, s, "limit=1"); page.Total != 3 {
		t.Errorf("total of a page: got %d, want 3", page.Total)
	}
	_, page := search(t, s, "query=full")
	if f := page.Features[0]; len(f.Segments) != 1 || f.Segments[0] != "testers" || f.DependencyType == nil || *f.DependencyType != "child" || f.Project != "default" {
		t.Errorf("the flag full: got %+v, want a child with the segment testers in default", f)
	}
	for _, query := range []string{
		"project=shop", "project=IS:", "project=INCLUDE:shop", "state=stale", "tag=simple:x",
		"createdAt=2026-01-01", "createdAt=IS_BEFORE:soon", "archived=IS:yes", "archived=true",
	} {
		s.Check(t, apitest.Call{query, "GET", "/api/admin/search/features?" + query, "", 400, `{"...":0,"name":"ValidationError","message":"<any>","id":"<uuid>"}`})
	}
}

// TestSearchBounds checks that a search with too many texts or values is rejected before any flag is compared with them.
func TestSearchBounds(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Create(t, "one")
	list := func(n int) string { return strings.TrimSuffix(strings.Repeat("on,", n), ",") }
	const search = "/api/admin/search/features?"
	for _, tt := range []struct {
		query  string
		status int
		want   string
	}{
		{"query=" + list(flagsearch.MaxSearchTexts), 200, apitest.Anything},
		{"query=" + list(3_100), 400, apitest.Failure("ValidationError", "query must have at most 20 texts, but has 3100")},
		{"project=IS_ANY_OF:" + list(flagsearch.MaxSearchValues), 200, apitest.Anything},
		{"project=IS_ANY_OF:" + list(101), 400, apitest.Failure("ValidationError", "project must have at most 100 values, but has 101")},
		{"tag=INCLUDE_ANY_OF:" + list(101), 400, apitest.Failure("ValidationError", "tag must have at most 100 values")},
		{"segment=EXCLUDE_ALL:" + list(101), 400, apitest.Failure("ValidationError", "segment must have at most 100 values")},
		{"state=IS_ANY_OF:" + strings.Repeat("active,", 100) + "active", 400, apitest.Failure("ValidationError", "state must have at most 100 values")},
		{"lifecycle=IS_NONE_OF:" + strings.Repeat("live,", 100) + "live", 400, apitest.Failure("ValidationError", "lifecycle must have at most 100 values")},
		{strings.Repeat("type[]=release&", 101), 400, apitest.Failure("ValidationError", "type must have at most 100 values")},
		{strings.Repeat("status=e:enabled&status[]=e:disabled&", 51), 400, apitest.Failure("ValidationError", "status must have at most 100 values, but has 102")},
	} {
		s.Check(t, apitest.Call{fmt.Sprintf("%.40s", tt.query), "GET", search + tt.query, "", tt.status, tt.want})
	}
}

// TestSearchArchived searches archived flags, sorted and with a cursor.
func TestSearchArchived(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.Must(t, "POST", apitest.Projects, `{"id":"shop"}`)
	s.Must(t, "POST", apitest.Projects+"/shop/features", `{"name":"old","tags":[{"type":"simple","value":"attic"}]}`)
	s.CreateEnabled(t, "gone")
	s.Create(t, "active")
	s.Must(t, "DELETE", apitest.Projects+"/shop/features/old", "")
	s.Must(t, "DELETE", apitest.Features+"/gone", "")
	for query, want := range map[string][]string{
		"":                                    {"active"},
		"archived=IS:false":                   {"active"},
		"archived=IS:true&sortBy=name":        {"gone", "old"},
		"archived=IS:true&sortBy=archivedAt":  {"old", "gone"},
		"archived=IS:true&query=attic":        {"old"},
		"archived=IS:true&project=IS:default": {"gone"},
		"archived=IS:true&lifecycle=IS:archived&limit=9": {"old", "gone"},
		"archived=IS:true&status=development:enabled":    {},
		"archived=IS:true&sortBy=name&limit=1&offset=1":  {"old"},
	} {
		got, _ := search(t, s, query)
		if query == "archived=IS:true&lifecycle=IS:archived&limit=9" {
			slices.Sort(want)
			slices.Sort(got)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("?%s (-want +got):\n%s", query, diff)
		}
	}
	found, pages := walkFlags(t, s, "archived=IS:true&limit=1")
	if diff := cmp.Diff([]string{"default/gone", "shop/old"}, found); diff != "" || pages != 2 {
		t.Errorf("with a cursor, in %d pages (-want +got):\n%s", pages, diff)
	}
	s.Run(t, []apitest.Call{
		{"an archived flag", "GET", "/api/admin/search/features?archived=IS:true&query=gone", "", 200,
			`{"features":[{"...":0,"name":"gone","archivedAt":"<time>","environments":[{"...":0,"enabled":false},{"...":0,"enabled":false}]}],"total":1}`},
	})
}
