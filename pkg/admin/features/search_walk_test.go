package features_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	flagsearch "guidon/pkg/admin/features"
	"guidon/pkg/apitest"
	"guidon/pkg/httpapi"
)

// walkFlags searches with cursor until the last page. It returns the flags as project/name, and the number of pages.
func walkFlags(t *testing.T, s *apitest.Server, query string) (found []string, pages int) {
	t.Helper()
	found = []string{}
	for cursor := ""; ; {
		var page struct {
			Features []struct{ Name, Project string }
			Total    *int
			Next     string
		}
		apitest.DecodeInto(t, s.Must(t, "GET", "/api/admin/search/features?"+query+"&cursor="+cursor, "").Body, &page)
		if page.Total != nil {
			t.Errorf("?%s: a total of %d, want none with cursor", query, *page.Total)
		}
		for _, f := range page.Features {
			found = append(found, f.Project+"/"+f.Name)
		}
		if pages++; page.Next == "" || pages > 100 {
			return found, pages
		}
		cursor = url.QueryEscape(page.Next)
	}
}

func TestSearchWithCursor(t *testing.T) {
	t.Parallel()
	s := apitest.Serve(t)
	s.CreateFullFlag(t) // parent, and full: tagged, on in development, with the segment testers
	for _, id := range []string{"a", "empty", "shop"} {
		s.Must(t, "POST", apitest.Projects, `{"id":"`+id+`"}`)
	}
	for _, name := range []string{"b", "a", "B", "a-b", "a.b", "~", "0"} {
		s.Must(t, "POST", apitest.Projects+"/shop/features", `{"name":"`+name+`"}`)
	}
	s.Must(t, "POST", apitest.Projects+"/a/features", `{"name":"z"}`)
	s.Must(t, "POST", apitest.Projects+"/shop/features", `{"name":"gone"}`)
	s.Must(t, "DELETE", apitest.Projects+"/shop/features/gone", "")
	all := []string{"a/z", "default/full", "default/parent", "shop/0", "shop/B", "shop/a", "shop/a-b", "shop/a.b", "shop/b", "shop/~"}
	for _, tt := range []struct {
		query string
		want  []string
		pages int
	}{
		{"", all, 1},
		{"limit=10", all, 1},
		{"limit=9", all, 2},
		{"limit=1", all, 10},
		{"limit=3", all, 4},
		{"limit=3&project=IS:shop", all[3:], 3},
		{"limit=2&project=IS_ANY_OF:shop,empty,a,nosuch", append([]string{"a/z"}, all[3:]...), 4},
		{"limit=2&project=IS_NOT:shop", all[:3], 2},
		{"limit=1&query=full,b", []string{"default/full", "shop/B", "shop/a-b", "shop/a.b", "shop/b"}, 6},
		{"tag=INCLUDE:team:core", all[1:2], 1},
		{"segment=INCLUDE:testers", all[1:2], 1},
		{"limit=2&segment=DO_NOT_INCLUDE:testers", slices.Concat(all[:1], all[2:]), 5},
		{"status[]=development:enabled", all[1:2], 1},
		{"project=IS:empty", []string{}, 1},
		{"project=IS:nosuch", []string{}, 1},
	} {
		got, pages := walkFlags(t, s, tt.query)
		if diff := cmp.Diff(tt.want, got); diff != "" || pages != tt.pages {
			t.Errorf("?%s: %d pages, want %d; flags (-want +got):\n%s", tt.query, pages, tt.pages, diff)
		}
	}
	const search = "/api/admin/search/features?"
	first := apitest.Decode[struct{ Next string }](t, s.Must(t, "GET", search+"cursor=&limit=5", "").Body).Next // shop/B
	s.Must(t, "DELETE", apitest.Projects+"/shop/features/a", "")
	s.Must(t, "POST", apitest.Projects+"/shop/features", `{"name":"A"}`)  // before the cursor
	s.Must(t, "POST", apitest.Projects+"/shop/features", `{"name":"aa"}`) // after it
	s.Check(t, apitest.Call{"the next page after changes", "GET", search + "limit=3&cursor=" + first, "", 200,
		`{"features":[{"...":0,"name":"a-b"},{"...":0,"name":"a.b"},{"...":0,"name":"aa"}],"next":"<any>"}`})
	s.Check(t, apitest.Call{"what a page has", "GET", search + "cursor=&query=full", "", 200,
		`{"features":[{"...":0,"name":"full","project":"default","dependencyType":"child","segments":["testers"]}]}`})
	for _, query := range []string{
		"cursor=x", "cursor=" + first + "x", "cursor=%0A", "cursor=L2E", "cursor=YQ", "cursor=YS9iL2M",
		"cursor=&sortBy=name", "cursor=&sortOrder=asc", "cursor=&favoritesFirst=true", "cursor=&offset=0", "cursor=&state=stale",
	} {
		s.Check(t, apitest.Call{query, "GET", search + query, "", 400, `{"...":0,"name":"ValidationError","message":"<any>","id":"<uuid>"}`})
	}
}

// TestSearchOfManyProjects checks that a search with cursor ends after a number of queries, and continues in the next page.
func TestSearchOfManyProjects(t *testing.T) {
	t.Parallel()
	count := &apitest.Counter{}
	s := apitest.Serve(t, func(_ *httpapi.Config, transport *http.RoundTripper) { *transport = count })
	want := []string{}
	for i := range flagsearch.MaxWalkedQueries + 5 {
		id := fmt.Sprintf("p%03d", i)
		s.Must(t, "POST", apitest.Projects, `{"id":"`+id+`"}`)
		if i%20 == 19 {
			s.Must(t, "POST", apitest.Projects+"/"+id+"/features", `{"name":"`+id+`"}`)
			want = append(want, id+"/"+id)
		}
	}
	got, pages := walkFlags(t, s, "")
	if diff := cmp.Diff(want, got); diff != "" || pages != 2 {
		t.Errorf("%d pages, want 2; flags (-want +got):\n%s", pages, diff)
	}
	calls := count.During(func() { s.Must(t, "GET", "/api/admin/search/features?cursor=", "") })
	if n := len(calls); n > flagsearch.MaxWalkedQueries+5 {
		t.Errorf("%d calls, want at most %d", n, flagsearch.MaxWalkedQueries+5)
	}
}
